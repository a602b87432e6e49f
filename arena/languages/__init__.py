"""Programming languages for bots.

Each language has a package with its description, the recipe of its base image, the files of a new bot, and
its library for bots, except that Python's library is ``arena.sdk``. To add a language, add such a package,
and add it to the lists in ``registry.py``.
"""
