"""Tests of submitted images."""
