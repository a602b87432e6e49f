"""Plays one match on this host with sockets, a referee process and a sandbox per seat, then removes them.

This part of a worker may start containers, and parses nothing from them. It has no access to the database, to
names of bots or to secrets.
"""
