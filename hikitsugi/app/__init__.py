"""Settings, embedded servers and the wiring of all parts."""
