"""Settings, embedded servers, run file and telemetry."""
