"""Durable stories: deterministic, without any input or output of their own."""
