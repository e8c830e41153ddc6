"""Tests mirror the tree; their names are sentences."""
