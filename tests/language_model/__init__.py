"""Tests of the language model: the real client over HTTP against the scripted server."""
