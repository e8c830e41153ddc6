"""Redis: what waiting agents need to know at once."""
