"""Recorded histories, and the program that records them: `python -m tests.histories.record VERSION`."""
