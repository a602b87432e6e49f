"""The authors' client for an arena's site. It uses only HTTP, and reads :mod:`arena.protocol.documents`."""
