"""The authors' client for an arena's site. It uses only HTTP and :mod:`arena.protocol.documents`."""
