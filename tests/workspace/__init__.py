"""Tests of checkouts, tools and the sandbox."""
