"""Plays matches on other hosts with dask.distributed: a scheduler, one worker per host, and a coordinator.

dask only carries bytes: a specification to one worker, and an answer back. It neither queues nor retries.
The coordinator's leases and attempts, which this package doesn't use, handle lost workers and messages.
"""
