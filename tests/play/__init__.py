"""Tests of the referee, launcher, replays and analysis."""
