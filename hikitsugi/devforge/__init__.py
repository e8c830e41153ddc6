"""A small forge for the demo and the tests."""
