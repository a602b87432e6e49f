"""Tests of whole matches: launcher, referee process, sandboxes, bots."""
