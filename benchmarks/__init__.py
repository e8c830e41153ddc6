"""Benchmarks: each prints ratios of things measured in one run, next to a peer or a limit."""
