"""What things cost, and whether a change was worth it: ``python -m benchmarks``.

docs/benchmarks.md says what each figure means and how to compare two of them.
"""
