"""What people and models read."""
