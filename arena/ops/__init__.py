"""Health, readiness and metrics of a process, retention, and backups."""
