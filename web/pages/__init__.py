"""Pages for people: a module for each kind, each with a function that returns its routes."""

from web.pages.account import account_pages
from web.pages.entry import entry_pages
from web.pages.public import public_pages

__all__ = ["account_pages", "entry_pages", "public_pages"]
