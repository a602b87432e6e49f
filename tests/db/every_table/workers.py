"""Who could play matches."""

from tests.db.every_table.moments import at


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the rows of workers that were lost long ago."""
    return {
        "worker": [
            {
                "coordinator": "c" * 64,
                "name": "here",
                "host": "n" * 64,
                "seats": 5,
                "busy": 2,
                "doubted": True,
                "usable": 3,
                "leased_until": 1e9,
                "lease_clock": "some boot",
                "refused": None,
                "since": None,
            },
            {
                "coordinator": "c" * 64,
                "name": "there",
                "host": "n" * 64,
                "seats": 0,
                "busy": 0,
                "doubted": False,
                "usable": None,
                "leased_until": 1e9,
                "lease_clock": "some boot",
                "refused": "another version",
                "since": at(1),
            },
        ]
    }
