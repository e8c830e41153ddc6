"""The steps from an empty database to the newest schema, in the order of their numbers."""
