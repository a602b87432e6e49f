"""Public games as files for download, a pair per day, with a manifest."""
