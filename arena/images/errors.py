"""What can go wrong while an image is made."""


class ImageTrouble(Exception):
    """An image could not be made; says which, why and what to do."""
