"""HTTP of the site: sessions, CSRF, rate limits, caches, headers, errors, request log."""
