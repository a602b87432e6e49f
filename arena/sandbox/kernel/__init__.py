"""What a runtime with containers needs from the Linux kernel: limits, filters, logs and caches."""
