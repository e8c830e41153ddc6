"""The SQL store of conversations and tool runs."""
