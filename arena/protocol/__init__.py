"""Data that processes exchange, and documents that the API returns and commands print.

The docstrings of documents are the API's description: see :mod:`web.http.api`.
"""
