"""Plays one match on this host with sockets, a referee process and a sandbox per seat, then removes them.

This part of a worker may start containers and parses nothing that comes from them. It knows no database, no
names of bots and no secrets.
"""
