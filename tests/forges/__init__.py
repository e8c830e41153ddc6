"""Tests of the forges."""
