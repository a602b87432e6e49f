"""Lists that are given a page at a time."""

from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request, Response

LISTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "headers": {
            "Link": {
                "description": 'The address of the next page, with rel="next"; missing on the last one.',
                "schema": {"type": "string", "pattern": r'^<\/api\/v1\/.*>; rel="next"$'},
            }
        }
    }
}
"""What the description says of an answer with a list; goes into a route's ``responses``."""

Limit = Annotated[int, Query(ge=1, le=100, description="How many at most.")]
"""How many are wanted at most. A route asks the store for one more, to know whether there is a next page."""


class NextPage:
    """Says where the next page of a list is; a dependency of the routes that give lists.

    Args:
        request: For this page.
        response: Its answer, on which the next one is named as well.
    """

    def __init__(self, request: Request, response: Response) -> None:
        self._url = request.url
        self._headers = response.headers

    def __call__(self, **where: int | str) -> str:
        """Return the address of the next page.

        Args:
            where: The parameters in which it differs from this page's.
        """
        url = self._url.include_query_params(**where)
        address = f"{url.path}?{url.query}"
        self._headers["Link"] = f'<{address}>; rel="next"'
        return address


Next = Annotated[NextPage, Depends()]
