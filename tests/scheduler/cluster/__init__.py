"""Tests of a cluster of real processes on this machine."""
