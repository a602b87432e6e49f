"""Why a site can't be reached, for its user."""

import requests


def why(address: str, error: requests.RequestException) -> str:
    """Return a sentence for what requests has met at an address."""
    match error:
        case requests.exceptions.SSLError():
            return (
                f"the certificate of {address} can't be trusted ({_reason(error)}): check the address; for a "
                "certificate of your own set REQUESTS_CA_BUNDLE"
            )
        case requests.exceptions.ProxyError():
            return (
                f"the proxy before {address} can't be used ({_reason(error)}): see HTTPS_PROXY and NO_PROXY"
            )
        case requests.exceptions.ReadTimeout():
            return f"{address} does not answer: try again later"
        case requests.exceptions.ConnectTimeout():
            return f"{address} can't be reached: nothing answers there; check the address and your network"
        case _:
            return f"{address} can't be reached ({_reason(error)}): check the address and your network"


def _reason(error: BaseException) -> str:
    """Return what the system said, which is the innermost of the errors."""
    words = str(error)
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            words = inner.strerror
        inner = inner.__cause__ or inner.__context__
    return words
