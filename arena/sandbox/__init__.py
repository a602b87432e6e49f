"""Runs untrusted programs, one bot per sandbox.

``factory`` opens one of the runtimes, which are in ``docker`` and ``process``.
"""
