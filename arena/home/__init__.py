"""Games on an author's machine: play, compare and rate bots without an arena."""
