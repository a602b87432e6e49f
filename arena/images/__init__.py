"""Makes images: what bots run in, a base a language and one image a bot, and the arena's own.

    ensure_base_image(client, language)  kaiten/bot-base-python:latest and its like, made only where it is
                                         missing or old
    build_bot_image(client, folder)      the image of a folder with a Dockerfile
    build_canary_image(client)           kaiten/canary:latest, which tries the sandbox from inside
    build_server_image(client)           localhost/kaiten/server:latest, from a checkout
    build_database_image(client)         localhost/kaiten/postgresql:15, for docker-compose.yml

What is built here is trusted: the arena's own sample bots and those of whoever sits at this machine. The
steps of a Dockerfile run in the engine's ordinary containers, without network but without the sandbox.

What goes wrong is an ImageTrouble, which says which image, why and what to do.
"""

from arena.images.base import ensure_base_image
from arena.images.bots import build_bot_image
from arena.images.canary import CANARY_IMAGE, build_canary_image
from arena.images.errors import ImageTrouble
from arena.images.postgresql import DATABASE_IMAGE, build_database_image
from arena.images.server import SERVER_IMAGE, build_server_image

__all__ = [
    "CANARY_IMAGE",
    "DATABASE_IMAGE",
    "SERVER_IMAGE",
    "ImageTrouble",
    "build_bot_image",
    "build_canary_image",
    "build_database_image",
    "build_server_image",
    "ensure_base_image",
]
