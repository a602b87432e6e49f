"""What the API says of itself: an OpenAPI document, made of its routes, what they return, and the docstrings.

A route names the problems that are its own, with :func:`problems`. Those that follow from what it takes are
added here: 404 where something stands in the address, 422 where something can be sent wrongly, 401 and 403
where not everybody may ask, and those that any request may meet.
"""

from typing import Any, Final

from docstring_parser import parse
from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import TypeAdapter

from arena import __version__
from web.api.routes import PREFIX, DataRouter
from web.problems import MEDIA_TYPE, ProblemDocument

_JSON: Final = "application/json"
_PROBLEM: Final = "Problem"
_ABOUT: Final = """An arena where bots play Sushi Go! against each other.

Lists come in pages: `next` is the address of the next one. Answers in JSON have an `ETag`, and with \
`If-None-Match` nobody is sent one twice. Wherever there is GET there is HEAD, but for streams. Errors are \
problems (RFC 9457) with a hint that says what to do. Times are UTC."""

_ETAG: Final = {
    "ETag": {
        "description": "Which answer this is, for If-None-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"[0-9a-f]{64}"$'},
    }
}
_COME_AGAIN: Final = {
    "Retry-After": {
        "description": "So many seconds until it helps to ask again, where that is known.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    }
}
_CHALLENGE: Final = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}

Document = dict[str, Any]
"""JSON."""


def problems(texts: dict[int, str]) -> dict[int | str, Document]:
    """Return what the description says of a route's own problems.

    Args:
        texts: By status, what each means here.
    """
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{_PROBLEM}"}}}
    return {status: {"description": text, "content": content} for status, text in texts.items()}


def located(text: str) -> dict[int | str, Document]:
    """Return what the description says of an answer 201 that says where the new thing is.

    Args:
        text: Of the address.
    """
    schema = {"type": "string"}
    return {201: {"headers": {"Location": {"description": text, "required": True, "schema": schema}}}}


def description_api() -> APIRouter:
    """Return the route of the description itself."""
    router = DataRouter("description")

    @router.get("/openapi.json", include_in_schema=False)
    def openapi(request: Request) -> JSONResponse:
        app: FastAPI = request.app
        app.openapi_schema = app.openapi_schema or describe(app)
        return JSONResponse(app.openapi_schema)

    return router


def describe(app: FastAPI) -> Document:
    """Return the description of all routes of data of an app."""
    routes = [route for route in iter_route_contexts(app.routes) if (route.path or "").startswith(PREFIX)]
    made = get_openapi(title=app.title, version=__version__, description=_ABOUT, routes=routes)
    schemas = made["components"]["schemas"]
    for path in made["paths"].values():
        for method, operation in path.items():
            _say_what_it_does(operation)
            _add_problems(operation)
            if method == "get":
                _add_etag(operation)
    # FastAPI's own errors, which nothing points to any more.
    del schemas["HTTPValidationError"], schemas["ValidationError"]
    schemas[_PROBLEM] = TypeAdapter(ProblemDocument).json_schema(mode="serialization")
    _say_what_they_are(schemas)
    return made


def _say_what_it_does(operation: Document) -> None:
    said = parse(operation.pop("description"))
    operation["summary"] = (said.short_description or "").removesuffix(".")
    if said.long_description:
        operation["description"] = said.long_description


def _say_what_they_are(schemas: dict[str, Document]) -> None:
    """Give each field its line of the class' docstring, or of that of a class which this one extends."""
    said = {name: parse(schema.get("description", "")) for name, schema in schemas.items()}
    texts = {name: {each.arg_name: _text(each.description) for each in said[name].params} for name in schemas}
    bases = {
        name: [other for other in schemas if _extends(schemas[name], schemas[other])] for name in schemas
    }
    for name, schema in schemas.items():
        schema["description"] = "\n\n".join(
            filter(None, (said[name].short_description, said[name].long_description))
        )
        for source in (*bases[name], name):
            for field, text in texts[source].items():
                # Beside a reference there may be a description: it is that of the place, not of the type.
                schema["properties"][field]["description"] = text


def _extends(schema: Document, base: Document) -> bool:
    fields, extended = schema.get("properties", {}), base.get("properties", {})
    return schema is not base and all(fields.get(name) == field for name, field in extended.items())


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).replace("None", "null")


def _add_problems(operation: Document) -> None:
    parameters = operation.get("parameters", [])
    texts = {500: "The arena failed.", 503: "The arena's database does not answer just now."}
    if any(parameter["in"] == "path" for parameter in parameters):
        texts[404] = "There is no such thing, or it is not the caller's."
    if "security" in operation:
        texts[401] = "There is no token or session that works."
        texts[403] = "The token may not do this, or another site made a browser ask."
    if any(parameter["in"] != "path" for parameter in parameters) or "requestBody" in operation:
        texts[422] = "What was sent is not as it is described here."
    if "requestBody" in operation:
        texts[400] = "The body can't be read."
        texts[413] = "The body is too large."
    said = operation["responses"]
    if _JSON in said.get("422", {}).get("content", {}):
        del said["422"]  # FastAPI's own
    for status, response in problems(texts).items():
        said.setdefault(str(status), response)
    if "401" in said:
        said["401"]["headers"] = _CHALLENGE
    if "429" in said:
        said["429"]["headers"] = _COME_AGAIN
    operation["responses"] = dict(sorted(said.items()))


def _add_etag(operation: Document) -> None:
    response = operation["responses"]["200"]
    if _JSON in response.get("content", {}):
        response["headers"] = response.get("headers", {}) | _ETAG
        known = {"description": "The caller has this answer already.", "headers": _ETAG}
        operation["responses"] = dict(sorted((operation["responses"] | {"304": known}).items()))
