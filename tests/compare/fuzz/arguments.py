"""Arguments, good and bad, for the parameters of schemas and of PyTorch's signatures."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from rushlight._base.schema import Parameter

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
COMPLEX = ("complex64", "complex128")
DTYPES = (*FLOATS, *INTEGERS, *COMPLEX, "bool")
SHAPES = (
    (), (1,), (3,), (0,), (2, 3), (3, 2), (3, 3), (1, 3), (3, 1), (0, 3), (2, 0), (2, 3, 4),
    (1, 3, 3), (2, 1, 4), (2, 2, 2), (2, 3, 4, 5), (1, 2, 4, 4), (2, 1, 3, 2, 2),
)  # fmt: skip
STRANGE = (
    "None", "True", "False", "'a'", "''", "1.5", "-1.5", "2.0", "1j", "2**62", "2**63", "-2**63-1",
    "2**31", "[]", "()", "[1]", "(1, 2)", "[1.5]", "['a']", "[None]", "[1, 'a']", "[1, 2.5]",
    "[True]", "[[1]]", "torch.tensor(1)", "torch.tensor(1.5)", "torch.tensor([1])",
    "torch.tensor(True)", "torch.tensor([1, 2])", "torch.tensor(2, dtype=torch.uint8)",
    "torch.tensor(1j)", "torch.tensor(2.0, requires_grad=True)", "np.int64(1)", "np.float32(1.5)",
    "np.float64(2.0)", "np.bool_(True)", "np.array([1, 2])", "np.array(1)", "torch.float32",
    "torch.int64", "float", "int", "torch.strided", "torch.device('cpu')", "'cpu'", "{}",
    "{'a': 1}", "slice(None)", "...", "range(2)", "torch.Size([1])", "torch.Size([2, 3])",
    "float('nan')", "float('inf')", "-float('inf')", "b'a'", "[torch.tensor(1)]",
    "[torch.tensor(1.0), 2]", "(torch.ones(2, 3),)", "[torch.ones(2, 3), torch.ones(3)]", "object",
)  # fmt: skip
WORDS = {
    "rounding_mode": ("trunc", "floor"), "norm": ("ortho", "forward", "backward"),
    "approximate": ("none", "tanh"), "UPLO": ("L", "U"), "indexing": ("ij", "xy"),
    "ord": ("fro", "nuc"), "p": ("fro", "nuc"), "reduce": ("sum", "mean", "amax", "amin", "prod"),
    "side": ("left", "right"), "interpolation": ("linear", "lower", "nearest", "midpoint"),
    "padding": ("valid", "same"), "reduction": ("none", "mean", "sum"), "driver": ("gelsd", "gels"),
    "mode": ("constant", "reflect", "nearest", "bilinear", "reduced", "mean", "sum", "max"),
    "pad_mode": ("reflect", "constant"), "padding_mode": ("zeros", "border"),
    "equation": ("ij,jk->ik", "ii", "i,i", "ij->ji", "...i->..."),
    "method": ("sort",),
}  # fmt: skip


class Writer:
    """The statements of a program in the making, and the names of its tensors."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.tensors = 0
        self.shape: tuple[int, ...] = rng.choice(SHAPES)
        self.dtype = rng.choice(DTYPES) if rng.random() < 0.4 else "float32"
        self.grad = rng.random() < 0.15
        self.uses_numpy = False

    def tensor(self, shape: Any = None, dtype: str = "", low: Any = None, high: Any = None) -> str:
        """The name of a tensor that a new statement makes."""
        rng = self.rng
        if shape is None:
            shape = self.shape if rng.random() < 0.75 else self.near_shape()
        if not dtype:
            dtype = self.dtype if rng.random() < 0.85 else rng.choice(DTYPES)
        shape = tuple(shape)
        if dtype == "bool":
            made = f"torch.rand({shape}) > 0.5"
        elif dtype in INTEGERS:
            a = 0 if low is None else int(low)
            b = max(a + 1, (4 if high is None else int(high)))
            made = f"torch.randint({a}, {b}, {shape}, dtype=torch.{dtype})"
        elif low is not None or high is not None:
            a = -2.0 if low is None else low
            b = a + 2.0 if high is None else high
            made = f"(torch.rand({shape}) * {b - a} + {a}).to(torch.{dtype})"
        elif dtype == "float32":
            made = f"torch.randn({shape})"
        elif dtype in COMPLEX or dtype == "float64":
            made = f"torch.randn({shape}, dtype=torch.{dtype})"
        else:
            made = f"torch.randn({shape}).to(torch.{dtype})"
        if self.grad and dtype in (*FLOATS, *COMPLEX):
            made = f"({made}).requires_grad_()"
        name = f"x{self.tensors}"
        self.tensors += 1
        self.lines.append(f"{name} = {made}")
        return name

    def near_shape(self) -> tuple[int, ...]:
        """A shape that differs from the program's own by something."""
        rng, shape = self.rng, list(self.shape)
        kind = rng.randrange(6)
        if kind == 0 and shape:
            shape[rng.randrange(len(shape))] = rng.choice((0, 1, 2, 3, 5))
        elif kind == 1 and shape:
            del shape[rng.randrange(len(shape))]
        elif kind == 2 and len(shape) < 5:
            shape.insert(rng.randrange(len(shape) + 1), rng.choice((1, 2, 3)))
        elif kind == 3:
            rng.shuffle(shape)
        else:
            return rng.choice(SHAPES)
        return tuple(shape)

    def strange(self) -> str:
        """A value of any type at all."""
        found = self.rng.choice(STRANGE)
        self.uses_numpy = self.uses_numpy or "np." in found
        return found

    def good(self, p: Parameter) -> str:
        """A value of the type that a parameter wants; not always one that makes sense."""
        rng = self.rng
        if p.is_list:
            return self.good_list(p)
        makers: dict[str, Callable[[], str]] = {
            "Tensor": lambda: self.tensor_for(p.name),
            "int": lambda: self.integer(p.name),
            "SymInt": lambda: self.integer(p.name),
            "float": lambda: rng.choice(("0.5", "1.0", "0.0", "2.0", "-1.0", "1", "0", "1e-5")),
            "bool": lambda: rng.choice(("True", "False")),
            "Scalar": lambda: rng.choice(
                ("0.5", "1.0", "2", "1", "0", "-1", "-1.5", "3", "True", "1j")
            ),
            "str": lambda: repr(rng.choice(WORDS.get(p.name, ("mean", "none")))),
            "ScalarType": lambda: "torch." + rng.choice(DTYPES),
            "Layout": lambda: "torch.strided",
            "Device": lambda: rng.choice(("'cpu'", "torch.device('cpu')")),
            "MemoryFormat": lambda: rng.choice(
                ("torch.contiguous_format", "torch.preserve_format", "torch.channels_last")
            ),
            "Generator": lambda: "torch.Generator()",
        }
        return makers.get(p.type, self.strange)()

    def tensor_for(self, name: str) -> str:
        """A tensor, of whole numbers where the name of its parameter says so."""
        whole = any(word in name for word in ("index", "indices", "target", "repeats"))
        if whole and self.rng.random() < 0.7:
            return self.tensor(dtype="int64", high=3)
        if name in ("mask", "condition") and self.rng.random() < 0.8:
            return self.tensor(dtype="bool")
        return self.tensor()

    def integer(self, name: str) -> str:
        rng = self.rng
        if "dim" in name or "axis" in name:
            return str(rng.choice((0, 1, -1, -2, 0, 1, 2, -3, 3, 5, -7)))
        if name == "reduction":
            return str(rng.choice((0, 1, 2, 1, 2, 5)))
        return str(rng.choice((0, 1, 2, 1, 2, 3, 4, -1, 7, -5)))

    def good_list(self, p: Parameter) -> str:
        rng = self.rng
        if p.type == "Tensor":
            return self.bracketed([self.tensor() for _ in range(rng.choice((2, 2, 1, 3, 0)))])
        if p.list_size and p.type == "int" and rng.random() < 0.3:
            return self.integer(p.name)
        count = p.list_size if p.list_size and rng.random() < 0.6 else rng.choice((1, 2, 2, 3, 0))
        if p.type == "int":
            return self.bracketed([self.integer(p.name) for _ in range(count)])
        if p.type == "bool":
            return self.bracketed([rng.choice(("True", "False")) for _ in range(count)])
        return self.bracketed([rng.choice(("0.5", "1.0", "2.0", "1")) for _ in range(count)])

    def bracketed(self, items: list[str]) -> str:
        if self.rng.random() < 0.5:
            return "[" + ", ".join(items) + "]"
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"

    def program(self) -> list[str]:
        return (["import numpy as np"] if self.uses_numpy else []) + self.lines
