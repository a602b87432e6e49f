"""The runtime that runs trusted bots as child processes."""
