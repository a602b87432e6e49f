"""Data that processes exchange: matches, recorded games, submissions, analyses, controls."""
