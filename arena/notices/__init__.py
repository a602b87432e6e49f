"""Notifications: authors' subscriptions, and delivery by webhook and email."""
