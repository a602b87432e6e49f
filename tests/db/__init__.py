"""Tests of the store, on both SQLite and PostgreSQL."""
