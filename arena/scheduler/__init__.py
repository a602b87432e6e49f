"""Schedules matches on workers and checks their records. Only this package writes results."""
