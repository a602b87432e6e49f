"""Processes uploaded images and source files, and stores the results."""
