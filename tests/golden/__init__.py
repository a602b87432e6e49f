"""Games that must come out the same for ever."""
