"""Differences that are decided: a pattern for what is seen, and the reason.

Longer reasons stand in docs/notes/differences.md. A pattern here is for what will stay so; what
only waits to be mended does not belong here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.compare.fuzz.differences import Difference


@dataclass(frozen=True)
class Named:
    """A decided difference: regular expressions for kind, statement and both sides, and why."""

    reason: str
    kind: str = ""
    statement: str = ""
    torch: str = ""
    ours: str = ""

    def covers(self, difference: Difference) -> bool:
        return bool(
            re.fullmatch(self.kind or ".*", difference.kind)
            and re.search(self.statement, difference.statement)
            and re.search(self.torch, difference.torch, re.DOTALL)
            and re.search(self.ours, difference.ours, re.DOTALL)
        )


KNOWN: list[Named] = []


def reason(difference: Difference) -> str | None:
    """Why a difference is there, or None when nobody has decided it."""
    return next((named.reason for named in KNOWN if named.covers(difference)), None)
