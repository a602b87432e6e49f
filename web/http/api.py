"""The basis of the data API: routes, pagination, guards, and the OpenAPI description.

Routes are plain functions:

- A route returns a frozen dataclass, which FastAPI serializes and describes. The docstrings of the function
  and the dataclass become the API's description: the function's first line is the summary, and the
  dataclass's ``Attributes`` describe the fields. If commands also print the document, it belongs in
  :mod:`arena.protocol`. A route may return a subclass of its document, such as a row from the store: FastAPI
  leaves out the fields that the subclass adds.
- The type of an argument, such as ``caller: Reader``, requires a scope. If ``caller.may_see`` returns False,
  raise ``Problem(404, …)``, so that the response doesn't reveal what exists. :func:`refusal` turns domain
  errors into problems. Common problems are described for every route, others by
  ``responses=problems({…})``.
- A list is a dataclass with a tuple and ``next``. Its route has ``responses=LISTED`` and ``next_page: Next``,
  and reads one row more than ``limit``, to know whether there is a next page.
- For a new route, add its router in web/app.py and a line in tests/web/test_authorisation.py, and run
  ``make generate``.
"""

from collections.abc import Callable, Coroutine
from copy import copy
from typing import Annotated, Any, Final

from docstring_parser import parse
from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response, Security
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.security import APIKeyCookie, HTTPBearer
from pydantic import TypeAdapter

from arena import __version__
from arena.db.errors import (
    BotDisqualified,
    BotTaken,
    NoSuchBot,
    NoSuchVersion,
    QuotaReached,
    SameContent,
    VersionGone,
)
from arena.platform.names import WrongName
from arena.protocol.sandbox_controls import UntrustedBotsRefused
from arena.protocol.states import Scope
from arena.protocol.submissions import HINTS, CauseKind
from arena.services.owners import ChallengeRefused, NotYours
from arena.submissions.uploads import DiskFull, NoRoom, SlotLost, TooLarge, UploadRefused
from web.http.authentication import PLAIN_NAME, SECURE_NAME, Caller, count_change, note_caller
from web.http.caching import tagged
from web.http.errors import MEDIA_TYPE, Problem, ProblemDocument, too_many_requests

PREFIX: Final = "/api/v1"


class DataRoute(APIRoute):
    """A route that adds an ETag to JSON responses."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, wrapped to add the ETag."""
        handler = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return tagged(request, await handler(request))

        return answer


class DataRouter(APIRouter):
    """Routes below ``PREFIX``; ``tag`` groups them in the API's description."""

    def __init__(self, tag: str) -> None:
        super().__init__(prefix=PREFIX, tags=[tag], route_class=DataRoute)

    def add_api_route(
        self,
        path: str,
        endpoint: Callable[..., Any],
        **options: Any,  # noqa: ANN401 - FastAPI's own
    ) -> None:
        """Add a route, and an undescribed HEAD route for each GET except streams."""
        super().add_api_route(path, endpoint, **options)
        response_class = options.get("response_class")
        streams = isinstance(response_class, type) and issubclass(response_class, StreamingResponse)
        route = self.routes[-1]
        if options.get("methods") == ["GET"] and not streams and isinstance(route, APIRoute):
            head = copy(route)
            head.methods, head.include_in_schema = {"HEAD"}, False
            self.routes.append(head)


_JSON: Final = "application/json"
_PROBLEM: Final = "Problem"
_ABOUT: Final = """An arena where bots play Sushi Go! against each other.

Lists are paginated: `next` is the address of the next page. JSON responses have an `ETag`; if it still \
matches `If-None-Match`, the response is 304. Every GET route except streams also \
supports HEAD. Errors are problems (RFC 9457) with a hint that says what to do. Times are UTC."""

_ETAG: Final = {
    "ETag": {
        "description": "Identifies this response, for If-None-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^W/"[0-9a-f]{64}"$'},
    }
}
_RETRY_AFTER: Final = {
    "Retry-After": {
        "description": "Seconds until a retry can succeed, if known.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    }
}
_CHALLENGE: Final = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}

Document = dict[str, Any]
"""A JSON object."""


def problems(texts: dict[int, str]) -> dict[int | str, Document]:
    """Describe a route's own problems; ``texts`` maps statuses to descriptions."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{_PROBLEM}"}}}
    return {status: {"description": text, "content": content} for status, text in texts.items()}


def located(text: str) -> dict[int | str, Document]:
    """Describe a 201 response; ``text`` describes its ``Location``."""
    schema = {"type": "string"}
    return {201: {"headers": {"Location": {"description": text, "required": True, "schema": schema}}}}


def description_api() -> APIRouter:
    """Return the route for the OpenAPI description."""
    router = DataRouter("description")

    @router.get("/openapi.json", include_in_schema=False)
    def openapi(request: Request) -> JSONResponse:
        app: FastAPI = request.app
        app.openapi_schema = app.openapi_schema or describe(app)
        return JSONResponse(app.openapi_schema)

    return router


def describe(app: FastAPI) -> Document:
    """Return the OpenAPI description of an app's data routes."""
    routes = [route for route in iter_route_contexts(app.routes) if (route.path or "").startswith(PREFIX)]
    schema = get_openapi(title=app.title, version=__version__, description=_ABOUT, routes=routes)
    schemas = schema["components"]["schemas"]
    for path in schema["paths"].values():
        for method, operation in path.items():
            _describe_operation(operation)
            _add_problems(method, operation)
            if method == "get":
                _add_etag(operation)
    # Nothing refers to FastAPI's own error schemas any more.
    del schemas["HTTPValidationError"], schemas["ValidationError"]
    schemas[_PROBLEM] = TypeAdapter(ProblemDocument).json_schema(mode="serialization")
    _describe_schemas(schemas)
    return schema


def _describe_operation(operation: Document) -> None:
    said = parse(operation.pop("description"))
    operation["summary"] = (said.short_description or "").removesuffix(".")
    if said.long_description:
        operation["description"] = said.long_description


def _describe_schemas(schemas: dict[str, Document]) -> None:
    """Take each field's description from the docstring of its class or a base class."""
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
                # A description next to a reference describes the field, not its type.
                schema["properties"][field]["description"] = text


def _extends(schema: Document, base: Document) -> bool:
    fields, extended = schema.get("properties", {}), base.get("properties", {})
    return schema is not base and all(fields.get(name) == field for name, field in extended.items())


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).replace("None", "null")


def _add_problems(method: str, operation: Document) -> None:
    parameters = operation.get("parameters", [])
    texts = {500: "An internal error occurred.", 503: "The arena's database is not responding."}
    if any(parameter["in"] == "path" for parameter in parameters):
        texts[404] = "Not found, or owned by another account."
    if "security" in operation:
        texts[401] = "The request has no valid token or session."
        texts[403] = "The token lacks the scope, or the request came from another site."
        if method != "get":
            texts[429] = "Too many changes within an hour, in the session or with the account's tokens."
    if any(parameter["in"] != "path" for parameter in parameters) or "requestBody" in operation:
        texts[422] = "The request is invalid: it doesn't match this schema."
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
        said["429"]["headers"] = _RETRY_AFTER
    operation["responses"] = dict(sorted(said.items()))


def _add_etag(operation: Document) -> None:
    response = operation["responses"]["200"]
    if _JSON in response.get("content", {}):
        response["headers"] = response.get("headers", {}) | _ETAG
        known = {"description": "The client already has this response.", "headers": _ETAG}
        operation["responses"] = dict(sorted((operation["responses"] | {"304": known}).items()))


LISTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "headers": {
            "Link": {
                "description": 'The address of the next page, with rel="next"; missing on the last page.',
                "schema": {"type": "string", "pattern": r'^<\/api\/v1\/.*>; rel="next"$'},
            }
        }
    }
}
"""The description of a response with a list, for a route's ``responses``."""

Limit = Annotated[int, Query(ge=1, le=100, description="Maximum number of entries.")]
"""Page size. A route reads one more entry, to know whether there is a next page."""


class NextPage:
    """Dependency of list routes: links to the next page in the body and in the ``Link`` header."""

    def __init__(self, request: Request, response: Response) -> None:
        self._url = request.url
        self._headers = response.headers

    def __call__(self, **where: int | str | None) -> str:
        """Return the next page's address: this page's, with the parameters in ``where`` replaced.

        Parameters that are None are removed.
        """
        url = self._url.remove_query_params([name for name, value in where.items() if value is None])
        url = url.include_query_params(**{name: value for name, value in where.items() if value is not None})
        address = f"{url.path}?{url.query}"
        self._headers["Link"] = f'<{address}>; rel="next"'
        return address


Next = Annotated[NextPage, Depends()]


_BEARER: Final = {"WWW-Authenticate": 'Bearer realm="Kaiten"'}

# The next two constants only document the API; note_caller does the authentication.
_TOKEN: Final = HTTPBearer(
    scheme_name="token",
    description="An account's token, kaiten_…, created at /account. Each operation lists its scope.",
    auto_error=False,
)
_SESSION: Final = APIKeyCookie(
    scheme_name="session",
    name=SECURE_NAME,
    description=f"The session cookie of the site's pages. Over plain HTTP its name is {PLAIN_NAME}.",
    auto_error=False,
)


def guard(scope: Scope | None = None) -> object:
    """Return a dependency that returns the caller.

    It raises Problem: 401 without valid credentials, 403 if the caller lacks the scope, 429 after too many
    changes.
    """
    scopes = [] if scope is None else [scope.value]

    def allowed(
        request: Request,
        caller: OptionalCaller,
        _token: Annotated[object, Security(_TOKEN, scopes=scopes)],
        _session: Annotated[object, Security(_SESSION, scopes=scopes)],
    ) -> Caller:
        if caller is None:
            raise Problem(401, "The request has no valid token or session.", headers=_BEARER)
        if scope is not None and scope not in caller.scopes:
            raise Problem(
                403,
                f"This request requires the {scope} scope.",
                hint=f"Create a token with the {scope} scope at /account.",
            )
        count_change(request, caller)
        return caller

    return Depends(allowed)


OptionalCaller = Annotated[Caller | None, Depends(note_caller)]
Reader = Annotated[Caller, guard(Scope.READ)]
Owner = Annotated[Caller, guard(Scope.SUBMIT)]


_PROBLEMS: Final[dict[type[Exception], tuple[int, str]]] = {
    NotYours: (403, "GET /api/v1/account/bots lists your bots."),
    NoSuchBot: (404, ""),
    BotTaken: (409, "Use the exact name of one of your bots, or a new name."),
    BotDisqualified: (409, "Contact the arena's operator."),
    SameContent: (409, f"Nothing was queued. {HINTS[CauseKind.SAME]}"),
    VersionGone: (409, "Submit it again, or choose another version."),
    TooLarge: (413, "Make the file smaller; docs/submitting.md has the limits."),
    ChallengeRefused: (422, ""),
    NoSuchVersion: (422, ""),
    WrongName: (422, ""),
    QuotaReached: (429, "Wait, or ask the arena's operator to raise your quota."),
    SlotLost: (408, "Send it again over a faster connection, or when fewer uploads are in progress."),
    DiskFull: (507, "Wait, or contact the arena's operator."),
    NoRoom: (503, ""),  # must follow its subclasses, which have their own status
    UntrustedBotsRefused: (503, "The operator can find out why with `arena doctor`."),
    UploadRefused: (422, ""),  # must follow its subclasses, which have their own status
}
"""Status and hint by error; an empty hint means the status's default."""

_RETRY_AFTER_SECONDS: Final = "5"
"""``Retry-After`` for refusals due to lack of room: by then, other uploads may have ended."""

_BUSY: Final = 503

REFUSED: Final = tuple(_PROBLEMS)
"""The errors that :func:`refusal` handles."""


def refusal(error: Exception) -> Problem:
    """Return the problem for one of ``REFUSED``."""
    status, hint = next(entry for kind, entry in _PROBLEMS.items() if isinstance(error, kind))
    if isinstance(error, UntrustedBotsRefused):
        # The full text is for the operator: it says what the host lacks.
        return Problem(status, "This arena isn't running submitted bots at the moment.", hint=hint)
    if isinstance(error, QuotaReached) and error.wait is not None:
        return too_many_requests(f"{error}.", error.wait, hint=hint)
    headers = {"Retry-After": _RETRY_AFTER_SECONDS} if status == _BUSY else None
    return Problem(status, f"{error}.", hint=hint, headers=headers)
