"""A slow, plain second implementation of Sushi Go!, written only from the rule text, to test the other."""
