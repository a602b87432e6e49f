"""What supervisors and Prometheus ask a process: is it well, is it ready, what has it counted.

Everything that is asked for comes in as an argument, so nothing here knows a database or an engine.
"""
