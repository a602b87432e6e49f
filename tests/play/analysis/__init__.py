"""Tests of the analyst."""
