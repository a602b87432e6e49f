"""The project's documents as pages of the site, rendered once and linked to each other."""
