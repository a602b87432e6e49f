"""Tests of submissions."""
