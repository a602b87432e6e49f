"""Draw the faces of ``web/static/cards.svg`` as one picture: ``python -m tests.browser.card_faces``.

Pictures for sharing are made without a browser, so they need the faces as pixels. A test compares the two
files.
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.visits import new_page
from web.viewer.pictures import FACES, FILE, HEIGHT, WIDTH

CARDS = Path(__file__).parents[2] / "web" / "static" / "cards.svg"


def drawn(browser: Browser) -> bytes:
    """Return the faces side by side, as a PNG."""
    page = new_page(browser, viewport=ViewportSize(width=WIDTH * len(FACES), height=HEIGHT))
    uses = "".join(
        f'<svg x="{number * WIDTH}" width="{WIDTH}" height="{HEIGHT}"><use href="#{face}"/></svg>'
        for number, face in enumerate(FACES)
    )
    page.set_content(
        f'<body style="margin:0"><div hidden>{CARDS.read_text()}</div>'
        f'<svg width="{WIDTH * len(FACES)}" height="{HEIGHT}" style="display:block">{uses}</svg>'
    )
    picture = page.screenshot(omit_background=True)
    page.context.close()
    return picture


def write(picture: bytes) -> None:
    """Write the site's file of the faces, with fewer colours."""
    with Image.open(BytesIO(picture)) as faces:
        faces.quantize(200, Image.Quantize.FASTOCTREE).save(FILE, "PNG", optimize=True)


if __name__ == "__main__":
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        write(drawn(chromium))
        chromium.close()
