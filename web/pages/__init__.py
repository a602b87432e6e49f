"""Pages for people: a module for each kind, each with a function that returns its routes."""

from web.pages.account import account_pages
from web.pages.badge import badge_pages
from web.pages.bots import bot_pages
from web.pages.cards import card_pages
from web.pages.challenges import challenge_pages
from web.pages.documents import document_pages
from web.pages.entry import entry_pages
from web.pages.front import front_pages
from web.pages.game import game_pages
from web.pages.leaderboard import leaderboard_pages
from web.pages.live import live_pages
from web.pages.mine import own_bots_pages
from web.pages.public import public_pages
from web.pages.rated_viewer import viewer_pages
from web.pages.status import status_pages
from web.pages.submissions import submission_pages

__all__ = [
    "account_pages",
    "badge_pages",
    "bot_pages",
    "card_pages",
    "challenge_pages",
    "document_pages",
    "entry_pages",
    "front_pages",
    "game_pages",
    "leaderboard_pages",
    "live_pages",
    "own_bots_pages",
    "public_pages",
    "status_pages",
    "submission_pages",
    "viewer_pages",
]
