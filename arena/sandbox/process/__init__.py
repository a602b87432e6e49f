"""The runtime that plays trusted bots as child processes."""
