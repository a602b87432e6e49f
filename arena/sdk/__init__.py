"""What a bot imports."""
