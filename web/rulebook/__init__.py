"""The pictures of the rules page. What they say is worked out by the rules themselves."""

from web.rulebook.examples import PICTURES
from web.rulebook.faces import with_faces
from web.rulebook.pictures import Line, Picture, Turn, TurnSeat

__all__ = ["PICTURES", "Line", "Picture", "Turn", "TurnSeat", "with_faces"]
