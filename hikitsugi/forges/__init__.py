"""GitHub and GitLab behind one protocol."""
