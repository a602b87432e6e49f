"""Uploads and their verdicts."""
