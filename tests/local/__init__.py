"""Tests of games on an author's own machine."""
