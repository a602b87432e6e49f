"""What strangers upload."""
