"""Tries to break each sandbox control on this host, and reports which ones passed.

``Canary.check`` starts five containers with bots' container settings, and collects evidence in them and from
the engine. ``judge`` derives findings from the evidence, without I/O.
"""
