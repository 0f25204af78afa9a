"""Names say a field's concept in the field's word."""

import ast
import re
from collections.abc import Iterator

from _tree import parsed, python_files, relative

#: Words that stood for several concepts, or for one that has a name, and what is said instead.
RETIRED = {
    "door": "the way, the function, the interface",
    "maxima": "max pooling, maximum",
    "meaning": "the function, the formula",
    "meanings": "the functions, the formulas",
    "reading": "read, the value",
    "readings": "the values",
    "rehearsal": "the trial run",
    "sentry": "the guard",
    "spread": "variance, deviation, dilation, broadcast, expand, splat",
    "taper": "the window",
    "tapers": "the windows",
    "told": "given, declared, reported, expected",
    "turning": "transpose",
}


def identifiers(tree: ast.AST) -> Iterator[str]:
    """The names that a file gives or uses."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname"):
            found = getattr(node, field, None)
            if isinstance(found, str):
                yield found


def parts(name: str) -> list[str]:
    """The words of a name: `_ToldTwice` has two."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")


def test_no_name_is_made_of_a_retired_word() -> None:
    found = {
        f"{relative(path)}: {name} ({RETIRED[word]})"
        for path in python_files("src/rushlight")
        for name in {path.stem, *identifiers(parsed(path))}
        for word in parts(name)
        if word in RETIRED
    }
    assert not found, "\n".join(sorted(found))


def test_a_name_is_taken_apart_at_underscores_and_capitals() -> None:
    assert parts("_ToldTwice") == ["", "told", "twice"]
    assert "spread" in {
        w for name in identifiers(ast.parse("x.spread_like()")) for w in parts(name)
    }
