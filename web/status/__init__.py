"""How the arena is: what it does, what it did lately, and what its machines can hold."""
