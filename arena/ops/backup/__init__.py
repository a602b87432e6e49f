"""Backups: one file with all of an arena's data, which can be restored into an empty arena."""
