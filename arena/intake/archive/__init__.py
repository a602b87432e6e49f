"""Reads a stranger's archive and writes its layers anew: all that arena.intake.reader's process does.

Nothing here opens a file, makes a path or starts anything: there are three open files, and an answer. Every
number that an archive states is checked against a limit before anything is read by it.

    sources    bytes: a range of a file, gunzipped, hashed, counted
    tar        the members of a tar, by a strict reading of its headers
    names      paths and links, as far as they are taken
    outer      what is in the archive: its members by their names
    oci        which image, where the archive is an OCI layout
    docker     which image, where it is what older engines save
    tree       the files of an image, as far as its links have to be understood
    layers     layers read and written
    image      an archive's image, from all of these
    process    the process: privileges, limits, the answer
"""
