"""What people do with an arena, from outside: the commands, HTTP, real containers."""
