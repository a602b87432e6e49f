"""Tests that use an arena from outside, as people do: with commands, HTTP and real containers."""
