"""A slow, plain second engine for Sushi Go!, written only from the rule text, to check the real one."""
