"""The ``arena admin`` commands, which operate an arena on its host."""
