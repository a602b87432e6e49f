"""Health, readiness and metrics of a process; retention; backups; and data files."""
