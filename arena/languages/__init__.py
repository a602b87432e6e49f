"""Programming languages for bots.

Each language has a package with everything that only this language needs: its description, the recipe of its
base image, its library for bots, and the files of a new bot. To add a language, add such a package and enter
it in ``registry.py``.
"""
