"""A slow, plain second engine for Sushi Go!, written from the rule text alone, to check the real one."""
