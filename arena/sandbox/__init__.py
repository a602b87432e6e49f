"""Runs untrusted programs, one bot per sandbox.

``factory`` opens the runtimes, which are in ``docker`` and ``process``, and builders of images.
"""
