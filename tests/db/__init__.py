"""Tests of the store, on SQLite and on PostgreSQL alike."""
