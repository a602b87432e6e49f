"""The site's HTTP layer: sessions, CSRF, rate limits, caches, headers, errors, metrics, request log."""
