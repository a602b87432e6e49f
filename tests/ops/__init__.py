"""Tests of monitoring, retention and backups."""
