"""Tests of the libraries for bots."""
