"""Tests of complete matches, with the launcher, the referee process, sandboxes and bots."""
