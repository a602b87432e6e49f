"""Monitoring, retention and backups."""
