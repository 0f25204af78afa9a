"""`torch.__version__`: a string that compares as a version, with strings and with tuples too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

__all__ = ["TorchVersion"]

_FORM: Final = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<pre>\d*))?"
    r"(?P<post>-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?P<dev>[-_.]?dev[-_.]?\d*)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_STAGES: Final = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LAST: Final = ("~",)  # after the name of each stage


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def _key(text: str) -> tuple[Any, ...] | None:
    """What versions are ordered by (PEP 440); None for a string that is no version."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    stage: tuple[Any, ...] = _LAST
    if match["stage"]:
        name = match["stage"].lower()
        stage = (_STAGES.get(name, name), int(match["pre"] or 0))
    elif match["dev"] is not None and match["post"] is None:
        stage = ("",)  # a development version comes before the first alpha
    post = -1 if match["post"] is None else _number(match["post"])
    dev = float("inf") if match["dev"] is None else _number(match["dev"])
    parts = re.split(r"[-_.]", match["local"].lower()) if match["local"] else []
    local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
    return int(match["epoch"] or 0), tuple(release), stage, post, dev, bool(parts), local


def _as_text(other: Any) -> str | None:
    """`other` as a version's text: itself, or a tuple's parts joined by dots."""
    if isinstance(other, str):
        return other
    if isinstance(other, Iterable):
        return ".".join(str(part) for part in other)
    # A Version of the package `packaging`, whichever copy of it.
    if hasattr(other, "release") and hasattr(other, "public"):
        return str(other)
    return None


class TorchVersion(str):
    """A version such as `"2.13.0"`, ordered as versions are: `torch.__version__ >= (2, 1)`.

    A string that is no version is compared letter by letter.
    """

    def _pair(self, other: Any) -> tuple[Any, Any] | None:
        text = _as_text(other)
        if text is None:
            return None
        mine, theirs = _key(self), _key(text)
        if mine is None or theirs is None:
            return str(self), text
        return mine, theirs

    def __gt__(self, other: str) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] > pair[1])

    def __lt__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] < pair[1])

    def __ge__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] >= pair[1])

    def __le__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] <= pair[1])

    def __eq__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] == pair[1])

    def __ne__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else bool(pair[0] != pair[1])

    __hash__ = str.__hash__
