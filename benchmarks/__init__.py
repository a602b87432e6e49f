"""Measures costs, and the effect of changes: ``python -m benchmarks``.

docs/benchmarks.md says what each figure means and how to compare two of them.
"""
