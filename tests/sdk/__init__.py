"""Tests of the bots' library."""
