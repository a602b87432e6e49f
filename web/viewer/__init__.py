"""The replay viewer's model: a public replay as frames, and what each pair of eyes sees in them. Pure.

A :class:`~web.viewer.film.Film` is a replay played again by the rules. A frame of it seen by some
:class:`~web.viewer.address.Eyes` is a :class:`~web.viewer.scene.Scene`; the template draws one of them, and
``static/viewer-draw.js`` draws the same from ``frames.json``. docs/viewer.md describes it for visitors.
"""
