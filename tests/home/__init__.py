"""Games on an author's machine."""
