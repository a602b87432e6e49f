"""Tests of the sandboxes that run bots."""
