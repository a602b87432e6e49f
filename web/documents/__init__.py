"""The project's own documents as pages of the site: chosen, rendered once, linked to each other."""

from web.documents.markdown import Document, Heading, Section
from web.documents.shelf import Chapter, Page, Shelf, open_shelf

__all__ = ["Chapter", "Document", "Heading", "Page", "Section", "Shelf", "open_shelf"]
