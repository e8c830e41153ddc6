"""Checkouts, tools and the sandbox."""
