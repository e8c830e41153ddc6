"""Tests of the scripted model server."""
