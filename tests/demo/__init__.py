"""Tests of ``arena demo`` as a person runs it."""
