"""The development forge, driven by real clients."""
