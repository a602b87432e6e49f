"""Reads an untrusted archive and rewrites its layers: the whole work of arena.images.reader's process.

This code opens no files, creates no paths and starts no processes: it has three open files and writes an
answer. It checks every number in an archive against a limit before using it.

    sources    bytes: a range of a file, gunzipped, hashed, counted
    tar        the members of a tar, read strictly
    outer      the archive's members by name, and the rules for paths and links
    formats    finds the image, in an OCI layout or in what older engines save
    tree       an image's files, as far as needed to understand its links
    layers     reads and writes layers
    __main__   the process: privileges, limits, the answer
"""
