"""Tries to break each sandbox control on this host, and reports which ones passed.

``Canary.check`` starts five containers that are configured like bots' containers, and collects evidence
inside them and from the engine. ``judge`` derives findings from the evidence, without I/O.
"""
