"""The arena's status: activity, queue, workers, hosts and their controls."""
