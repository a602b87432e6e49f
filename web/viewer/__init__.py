"""The replay viewer's model: a public replay as frames, seen from each viewpoint. Pure.

A :class:`~web.viewer.film.Film` is a replay run through the rules again. A frame of it from some
:class:`~web.viewer.film.Eyes` is a :class:`~web.viewer.scene.Scene`; the template draws one of them, and
``static/viewer-draw.js`` draws the same from ``frames.json``. docs/viewer.md is the user's guide.
"""
