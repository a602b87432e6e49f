"""Data that processes exchange, and documents that the API returns and commands print."""
