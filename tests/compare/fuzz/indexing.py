"""Reads and writes through indices of every kind."""

from __future__ import annotations

import random

from tests.compare.fuzz.arguments import INTEGERS, SHAPES, Writer


def index_tensor(w: Writer, shape: tuple[int, ...]) -> str:
    """The name of a tensor that serves as an index, or nearly."""
    rng = w.rng
    dtype = rng.choice(("int64", "int64", "int64", "bool", "uint8", "int32", "int16", "float32"))
    size = rng.choice(((), (1,), (2,), (3,), (2, 2), (0,), (1, 3), shape[:1], shape[:2], shape))
    name = f"i{w.tensors}"
    w.tensors += 1
    if dtype == "bool":
        made = f"torch.rand({tuple(size)}) > 0.5"
    elif dtype == "float32":
        made = f"torch.rand({tuple(size)})"
    else:
        low = rng.choice((0, 0, -1 if dtype in INTEGERS[:3] else 0))
        made = (
            f"torch.randint({low}, {rng.choice((1, 2, 2, 4))}, {tuple(size)}, dtype=torch.{dtype})"
        )
    w.lines.append(f"{name} = {made}")
    return name


def number(w: Writer) -> str:
    rng = w.rng
    return rng.choice(
        ("0", "1", "-1", "2", "-2", "0", "1", "5", "-7", "2**63", "np.int64(1)", "True", "False",
         "torch.tensor(1)", "torch.tensor(True)", "torch.tensor(0, dtype=torch.uint8)", "1.5")
        if rng.random() < 0.4 else ("0", "1", "-1")
    )  # fmt: skip


def slice_text(w: Writer) -> str:
    rng = w.rng
    if rng.random() < 0.4:
        return ":"
    ends = ("", "", "0", "1", "2", "-1", "3", "9", "-9", "None")
    if rng.random() < 0.12:
        ends += (
            "1.5",
            "'a'",
            "torch.tensor(1)",
            "True",
            "2**63",
            "np.int64(1)",
            "torch.tensor(1.5)",
        )
    text = f"{rng.choice(ends)}:{rng.choice(ends)}"
    if rng.random() < 0.3:
        text += ":" + rng.choice(("", "1", "2", "3", "-1", "0", "torch.tensor(2)"))
    return text


def item(w: Writer, shape: tuple[int, ...]) -> str:
    rng = w.rng
    kind = rng.randrange(12)
    if kind < 3:
        return number(w)
    if kind < 6:
        return slice_text(w)
    if kind == 6:
        return "None"
    if kind == 7:
        return "..."
    if kind < 10:
        return index_tensor(w, shape)
    if kind == 10:
        return rng.choice(
            ("[0, 1]", "[0]", "[]", "[True, False]", "[[0, 1], [1, 0]]", "[0, -1]", "(0, 1)", "()",
             "[5]", "[1.5]", "['a']", "[None]", "range(2)", "np.array([0, 1])",
             "np.array([True, False])", "[[0], [1]]", "[slice(None), 0]", "[torch.tensor(0), 1]",
             "[0, True]", "[[]]", "(None,)", "[...]")
        )  # fmt: skip
    return w.strange() if rng.random() < 0.4 else "[0, 1]"


def write_program(rng: random.Random) -> list[str]:
    """A tensor, and a read or a write or two."""
    w = Writer(rng)
    w.uses_numpy = True
    shape = w.shape = rng.choice((*SHAPES, (3, 4), (2, 3, 4), (3, 3), (4,)))
    w.lines.append(f"x = {w.tensor(shape)}")
    for n in range(rng.choice((1, 1, 2))):
        count = rng.choice((1, 1, 1, 2, 2, 3, 4))
        index = ", ".join(item(w, shape) for _ in range(count))
        if rng.random() < 0.55:
            w.lines.append(f"r{n} = x[{index}]")
            continue
        kind = rng.randrange(8)
        if kind < 3:
            value = rng.choice(("0", "1", "2.5", "True", "-1", "1j", "2**40", "float('nan')"))
        elif kind < 6:
            value = w.tensor(rng.choice(SHAPES) if rng.random() < 0.5 else ())
        else:
            value = w.strange()
        if rng.random() < 0.1:
            w.lines.append(f"x[{index}] {rng.choice(('+=', '*=', '-='))} {value}")
        else:
            w.lines.append(f"x[{index}] = {value}")
    return w.program()
