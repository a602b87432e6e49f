"""Backups: everything that an arena has to keep, in one file, and back from it into an empty place.

Imports nothing by itself: what restores brings alembic along, and every start looks for a restore's note.
"""
