"""The replay viewer: a public replay as frames, seen from each viewpoint.

A :class:`~web.viewer.film.Film` is a replay played again under the rules. A frame of a film, seen from a
viewpoint (:class:`~web.viewer.film.Viewpoint`), is a :class:`~web.viewer.scene.Scene`. The template draws one
scene; ``static/viewer-draw.js`` draws all of them from ``frames.json``. The script doesn't implement the
rules, because a second implementation would have to be proved equivalent. docs/viewer.md is the user's guide.
"""
