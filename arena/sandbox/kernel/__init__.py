"""Linux kernel features that container runtimes need: limits, filters, logs and caches."""
