"""Tests of the site's client, against real sites."""
