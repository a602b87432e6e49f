"""Runs untrusted programs, one bot per sandbox.

``factory`` opens image builders and runtimes; the runtimes are in ``docker`` and ``process``.
"""
