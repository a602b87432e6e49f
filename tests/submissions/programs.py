"""Submitted bots: valid ones, one for each way to fail, and images built by authors."""

import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.models.images import Image

from arena.play.botfiles import samples

GOOD = (samples() / "random" / "bot.py").read_text()

_USUAL = """
from arena.sdk import Card, Move, View, run

asked = 0

def choose(view):
    global asked
    asked += 1
    {body}
    return Move((view.hand[0],), view.hand[1] if view.control else None)

{before}
run(choose)
"""


def program(body: str = "pass", before: str = "") -> str:
    """Return a bot that runs ``body`` at every decision, and ``before`` when it starts."""
    return _USUAL.format(body=body, before=before)


CRASHES = program('if asked == 4: raise RuntimeError("I can not go on")')
SLOW = program("import time; time.sleep(60)")
DAWDLES = program("import time; time.sleep(1.2)")
"""A bot that is never late, but takes half a minute for its first game."""
NETWORK = program(before='import urllib.request; urllib.request.urlopen("http://weights.example/model.bin")')
HUNGRY = program("if asked == 3: kept = [bytes([n]) * 2**20 for n in range(255) for _ in range(4)]")
CHEATS = program("if asked == 2: return Move((Card.SOY_SAUCE,))")


@contextmanager
def built(client: docker.DockerClient, base: str, *lines: str, tag: str | None = None) -> Iterator[Image]:
    """Build an image of a valid bot with these additional Dockerfile lines, and yield it."""
    script = "import sys; open('/bot/bot.py', 'w').write(sys.argv[1])"
    words = json.dumps(["python3", "-c", script, GOOD])
    recipe = [f"FROM {base}", f"LABEL kaiten.test={uuid.uuid4().hex}", "USER 0", f"RUN {words}", *lines]
    recipe += ['ENTRYPOINT ["python3", "/bot/bot.py"]']
    image, _ = client.images.build(
        fileobj=io.BytesIO("\n".join(recipe).encode()),
        tag=tag,
        rm=True,
        forcerm=True,
        nocache=True,
        network_mode="none",
    )
    try:
        yield image
    finally:
        client.images.remove(tag or str(image.id), force=True)
