"""GitLab's half: its API under `/api/v4`."""
