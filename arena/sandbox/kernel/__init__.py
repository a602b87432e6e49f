"""What a runtime for containers needs from the Linux kernel: limits, filters, evidence and caches."""
