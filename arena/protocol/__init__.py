"""Data that processes exchange, and documents that the API returns and commands print.

The documents' docstrings become the API's description: see :mod:`web.http.api`.
"""
