"""The authors' client for an arena's site: it exchanges the documents of :mod:`arena.protocol` over HTTP."""
