"""The referee of one match: asks every seat, keeps the clocks, deals with faults.

It runs as a child process without rights, since it parses what strangers
send. It knows no database, no Docker and no names.
"""
