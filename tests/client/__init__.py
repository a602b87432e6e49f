"""Tests of the client of a site, against real sites."""
