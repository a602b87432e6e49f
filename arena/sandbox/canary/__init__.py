"""Tries to break each sandbox control on this host, and reports which ones passed.

A runtime runs ``probe`` in sandboxes configured like bots' sandboxes, and collects ``evidence``. ``judge``
derives findings from the evidence, without I/O.
"""
