"""The steps that touch the world: thin, idempotent, one class per collaborator."""
