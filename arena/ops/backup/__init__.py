"""Backups: all data of an arena in one file, and restoring it into an empty arena."""
