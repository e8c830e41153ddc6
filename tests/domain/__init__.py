"""The domain: pure rules."""
