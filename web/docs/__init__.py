"""The project's own documents as pages of the site: chosen, rendered once, linked to each other."""
