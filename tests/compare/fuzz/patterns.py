"""Statements with letters in the places of tensors, dimensions and numbers."""

from __future__ import annotations

import random
import re

SHAPES = ("2, 3", "3", "3, 3", "2, 1, 3", "2, 2, 2", "4", "1", "")
# A letter alone, which is no part of a name, an attribute, a text or the name of a keyword.
LETTER = re.compile(r"(?<![\w.'])[xoadeks](?!\w|'|=(?!=))")


def patterns(text: str) -> tuple[str, ...]:
    """The patterns of a text, between semicolons.

    `x` stands for a tensor, often one of the last, `o` for any, `a` for one of the first two, `d`
    and `e` for dimensions, `k` for a small number, `s` for a shape.
    """
    return tuple(pattern.strip() for pattern in text.split(";"))


def fill(pattern: str, rng: random.Random, names: list[str]) -> str:
    """A pattern with tensors, dimensions and numbers in the places of its letters."""
    shape = rng.choice(SHAPES)
    given = {
        "x": rng.choice(names[-4:] if rng.random() < 0.6 else names),
        "o": rng.choice(names),
        "a": rng.choice(names[:2]),
        "d": str(rng.choice((0, 0, 0, 1, 1, -1, -1, 2, -2))),
        "e": str(rng.choice((0, 1, 1, -1, -1, 2))),
        "k": str(rng.choice((0, 0, 1, 1, 2))),
        "s": f"({shape},)" if shape else "()",
    }
    return LETTER.sub(lambda letter: given[letter[0]], pattern)
