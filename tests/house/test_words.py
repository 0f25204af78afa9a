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
#: Participles that don't end in "ed".
_IRREGULAR = frozenset(
    {
        "begun",
        "borne",
        "bound",
        "broken",
        "brought",
        "built",
        "chosen",
        "done",
        "drawn",
        "driven",
        "found",
        "frozen",
        "given",
        "gone",
        "grown",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "led",
        "left",
        "lent",
        "lost",
        "made",
        "met",
        "paid",
        "said",
        "seen",
        "sent",
        "shown",
        "sold",
        "spent",
        "stood",
        "sunk",
        "taken",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "worn",
        "woven",
        "written",
    }
)
#: Words in "ed" that are none.
_NONE = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})
#: How many functions are named by what has become of something, not by what they do; to fall.
#: Names that PyTorch has given are among them.
NAMED_BY_PARTICIPLES = 166


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


def is_participle(word: str) -> bool:
    """Whether a word tells what has become of something: `made`, `converted`."""
    ending = word.endswith("ed") and len(word) > 4 and word not in _NONE
    return ending or word in _IRREGULAR


def has_verb(name: str) -> bool:
    """Whether a function's name begins with something else than a participle."""
    return not is_participle(next((word for word in parts(name) if word), ""))


def functions(tree: ast.AST) -> Iterator[str]:
    """The names of a file's functions and methods, but not of its properties."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = {getattr(mark, "id", getattr(mark, "attr", "")) for mark in node.decorator_list}
            if not marks & {"property", "cached_property", "setter"}:
                yield node.name


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


def test_no_more_functions_are_named_by_participles() -> None:
    found = [
        f"{relative(path)}: {name}"
        for path in python_files("src/rushlight")
        for name in functions(parsed(path))
        if not has_verb(name)
    ]
    assert len(found) <= NAMED_BY_PARTICIPLES, "\n".join(sorted(found))


def test_a_participle_is_known_and_a_verb_or_a_property_is_none() -> None:
    assert [has_verb(name) for name in ("_made_of", "converted", "held", "shownAt")] == [False] * 4
    assert all(
        has_verb(name) for name in ("make", "_convert", "embed", "red", "is_made", "seed_all")
    )
    assert list(functions(ast.parse("@property\ndef made(): ...\ndef f(): ..."))) == ["f"]
