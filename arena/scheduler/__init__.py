"""Schedules matches on workers and checks their records. The only writer of results."""
