"""Runs untrusted programs, one bot per sandbox.

``opening`` opens one of the runtimes, which are in ``docker`` and ``process``.
"""
