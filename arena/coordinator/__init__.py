"""Decides what is played, hands it to workers, and believes their records only after checking them.

The only writer of results.
"""
