"""Data for programs: a module for each kind of thing, each with a function that returns its routes."""

from web.api.account import account_api
from web.api.public import public_api
from web.api.submissions import submission_api

__all__ = ["account_api", "public_api", "submission_api"]
