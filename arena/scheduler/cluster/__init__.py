"""Plays matches on other hosts with dask.distributed: a scheduler, one worker per host, and a coordinator.

dask only carries bytes: a specification to a worker, and an answer back. It neither queues nor retries.
The coordinator's leases and attempts handle lost workers and messages.
"""
