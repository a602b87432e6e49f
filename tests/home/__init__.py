"""Tests of games on an author's machine."""
