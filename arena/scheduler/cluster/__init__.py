"""Plays matches on other hosts with dask.distributed: a scheduler, one worker per host, and a coordinator.

dask only carries bytes: a specification to one worker, an answer back. It neither queues nor retries. Leases
and attempts in the coordinator's database, unknown to this package, settle lost workers and messages.
"""
