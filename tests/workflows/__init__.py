"""Stories on a real Temporal server; the outside is played by small fakes."""
