"""The project's documents: an index, a page for each, the rules with pictures, and files to take along."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from web.caller import Callers
from web.documents import Page, Shelf
from web.rendering import page
from web.rulebook import PICTURES, with_faces
from web.viewer.words import card_name

_METHODS: Final = ["GET", "HEAD"]

Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


def document_pages(shelf: Shelf, callers: Callers) -> APIRouter:
    """Return the routes of documents."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/docs", methods=_METHODS)
    def index(request: Request) -> Response:
        return page(request, "docs.html", chapters=shelf.chapters)

    @router.api_route("/docs/{page}", methods=_METHODS)
    def one(request: Request, name: Annotated[Name, Path(alias="page")]) -> Response:
        address = f"/docs/{name}"
        if address in shelf.files:
            return _file(address, shelf.files[address])
        found = _find(shelf, address)
        return page(request, "doc.html", shown=found, beside=shelf.beside(found))

    @router.api_route("/rules", methods=_METHODS)
    def rules(request: Request) -> Response:
        shown = _find(shelf, "/rules")
        return page(
            request,
            "rules.html",
            shown=shown,
            beside=shelf.beside(shown),
            pictures=PICTURES,
            with_faces=with_faces,
            card_name=card_name,
        )

    return router


def _find(shelf: Shelf, address: str) -> Page:
    found = shelf.find(address)
    if found is None:
        raise HTTPException(404, "There is no such page of documentation. The index has all of them.")
    return found


def _file(address: str, text: str) -> Response:
    # Shown, not run: the browser is told to believe the type.
    return PlainTextResponse(text, media_type="application/json" if address.endswith(".json") else None)
