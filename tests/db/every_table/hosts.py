"""What hosts were seen to hold."""

import msgspec

from tests.builders import host_report
from tests.db.every_table.moments import at


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the reports of two hosts."""
    reports = (host_report("tmp-files", "swap"), host_report(host="n" * 64, isolates=False))
    return {
        "host_report": [
            {
                "host": report.host,
                "checked": at(minute),
                "accepted": accepted,
                "report": msgspec.json.encode(report),
            }
            for minute, (report, accepted) in enumerate(zip(reports, (["swap"], []), strict=True))
        ]
    }
