"""Tests of what runs the bots."""
