"""The client of a site, against real ones."""
