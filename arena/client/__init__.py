"""The authors' client for an arena's site: it exchanges :mod:`arena.protocol.documents` over HTTP."""
