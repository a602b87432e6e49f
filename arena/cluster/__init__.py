"""Matches on other hosts, over dask.distributed: a scheduler, a worker a host, and the coordinator's side.

dask only carries: bytes of a specification to one worker, bytes of an answer back. It queues nothing, tries
nothing twice and decides nothing. What a lost worker, scheduler or message means is decided by leases and
attempts in the coordinator's database, of which nobody here knows.
"""
