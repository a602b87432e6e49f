"""Tests of the replay viewer's model."""
