"""Public games as files for download, a pair of files per day, with a manifest."""
