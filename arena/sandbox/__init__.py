"""Runs untrusted programs, one bot per sandbox.

Import the runtimes from ``docker.runtime`` and ``process.runtime``.
"""
