"""The memory behaves the same on SQLite and on PostgreSQL."""
