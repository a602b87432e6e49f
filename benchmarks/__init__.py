"""Measurements of costs and of the effect of changes: ``python -m benchmarks``.

docs/benchmarks.md explains the figures and how to compare them.
"""
