"""The ladder's laboratory: how well ratings find the true order of bots, and how good their intervals are."""
