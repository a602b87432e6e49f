"""The templates and what they can call."""

from typing import Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from web import text

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    clean_name=text.clean_name,
    clock=text.clock,
    day=text.day,
    fixed=text.fixed,
    iso_moment=text.iso_moment,
    millis=text.millis,
    percent=text.percent,
    signed=text.signed,
)


def page(template: str, *, status: int = 200, **context: object) -> HTMLResponse:
    """Render a template as an answer."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(context), status_code=status)
