"""Programming languages for bots.

Each language has a package with its description, the recipe for its base image, the files for a new bot, and
its library for bots. There are two exceptions: Python's library is ``arena.sdk``, and C++, whose bots are
submitted as images, has only the files for a new bot. To add a language, add such a package, and list it in
``registry.py``.
"""
