"""Who could play matches."""


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the row of a worker that was lost long ago."""
    return {
        "worker": [
            {
                "coordinator": "c" * 64,
                "name": "here",
                "host": "n" * 64,
                "seats": 5,
                "busy": 2,
                "doubted": True,
                "leased_until": 1e9,
                "lease_clock": "some boot",
            }
        ]
    }
