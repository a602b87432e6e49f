"""Notifications: authors' subscriptions, and delivery by webhook and mail."""
