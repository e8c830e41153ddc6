"""How the forge looks to a client of GitHub's REST API."""
