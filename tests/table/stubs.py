"""Writes the stubs: the types of `torch.*` and of tensors, for editors and type checkers.

    python -m tests.table.stubs

Signatures are those by which calls are told apart, see `stub_signatures.py`.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import rushlight
from rushlight._tensor import legacy_constructors
from rushlight._torch.names import HOMES, MODULES
from rushlight.amp import switches as amp_switches
from tests.table import help_texts, stub_signatures

PATH = Path(rushlight.__file__).with_name("__init__.pyi")
HEAD = '''\
# Written by `python -m tests.table.stubs` from the table: don't edit.
# ruff: noqa
# fmt: off
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment, override"
"""{doc}"""

from builtins import bool as _bool, float as _float, int as _int, type as _type
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn, overload

from numpy import ndarray

from {base}.annotations import DeviceLike, DTypeLike, Scalar
from {base}.memory_format import layout as _layout
'''
#: What the files beside that of the package need, which has these names itself.
WORDS = """\
from {base}.dtypes import dtype
from {base}.memory_format import memory_format
from {base}.size import Size
from {tensor} import return_types
from {tensor}.tensor import Tensor
from {tensor}.untyped_storage import UntypedStorage
from {package}_torch.types import Number
from {package}random import Generator
"""
METHODS = """\
from .._core.storage import TensorBase
from ..utils.hooks import RemovableHandle

#: The other operand of an operator.
Operand = TensorBase | Scalar | ndarray[Any, Any]

class TensorMethods(TensorBase):
    \"\"\"The operators and methods that the table attaches.\"\"\"

"""
#: The files of functions: by the place, the namespace and what else they have.
FILES = {
    "_torch/linalg": ("linalg", "from .._array.linalg.linalg import LinAlgError as LinAlgError\n"),
    "_torch/fft": ("fft", ""),
    "_torch/special": ("special", ""),
    "_torch/masked": ("masked", ""),
    "_torch/signal/windows": ("signal.windows", ""),
    "nn/functional": (
        "nn.functional",
        "from . import grad as grad\n"
        "GRID_SAMPLE_INTERPOLATION_MODES: dict[str, _int]\n"
        "GRID_SAMPLE_PADDING_MODES: dict[str, _int]\n",
    ),
}
_COMPARING = ("__eq__", "__ne__")
_BINARY = (
    "lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow "
    "matmul rmatmul and rand or ror xor rxor lshift rlshift rshift rrshift iadd isub imul itruediv "
    "ifloordiv imod ipow iand ior ixor ilshift irshift"
)


def operators() -> Iterator[str]:
    """The methods behind operators."""
    for name in _COMPARING:
        yield f"def {name}(self, other: object) -> Tensor: ..."
    for name in _BINARY.split():
        yield f"def __{name}__(self, other: Operand) -> Tensor: ..."
    for name in ("neg", "pos", "invert", "abs"):
        yield f"def __{name}__(self) -> Tensor: ..."


def head(place: str, doc: str) -> str:
    """The first lines of a file at a place in the package."""
    package = "." * (place.count("/") + 1)
    places = {"base": f"{package}_base", "tensor": f"{package}_tensor", "package": package}
    return (HEAD + ("" if place == "__init__" else WORDS)).format(doc=doc, **places)


def texts() -> Iterator[tuple[str, str]]:
    """The places of the files of stubs, and their texts."""
    yield "__init__", text()
    for place, (space, more) in FILES.items():
        lines = [head(place, f"The types of `rushlight.{space}.*`."), more]
        yield place, "\n".join([*lines, *stub_signatures.functions(space), ""])
    methods = [*operators(), "", *stub_signatures.methods()]
    body = "".join(f"    {line}\n" if line else "\n" for line in methods)
    doc = "What is attached to `Tensor`, for type checkers."
    yield "_tensor/method_types", head("_tensor/method_types", doc) + METHODS + body
    named = [
        "from typing import Any, NamedTuple\n\nfrom .tensor import Tensor\n",
        *stub_signatures.named_results(), "all_return_types: list[Any]", "",
    ]  # fmt: skip
    first = HEAD.partition('"""')[0] + '"""The classes of named results."""\n'
    yield "_tensor/return_types", first + "\n".join(named)


def others(taken: set[str]) -> Iterator[str]:
    """Names that aren't operations: modules, classes, dtypes, settings, numbers."""
    for name, place in sorted(MODULES.items()):
        if (name[0] == "_" and name != "_C") or "." in name:
            continue
        folder, _, last = place.rpartition(".")
        yield f"from .{folder} import {last} as {name}"
    for name, module in sorted(HOMES.items()):
        if name not in taken and module != "amp.switches":
            yield f"from .{module} import {name} as {name}"
    for name in sorted(vars(rushlight)):
        value = vars(rushlight)[name]
        if name[0] == "_" or name in taken or name in MODULES:
            continue
        if name in HOMES:
            continue
        home = getattr(value, "__module__", None)
        if home in ("typing", "builtins", "__future__"):
            continue
        if isinstance(value, ModuleType):
            continue  # of the package's inside, or among the lazy ones
        if isinstance(value, rushlight.dtype):
            yield f"{name}: dtype"
        elif name in legacy_constructors.TYPES:
            yield f"class {name}(Tensor): ..."
        elif isinstance(value, (int, float)) or value is None:
            kind = "None" if value is None else f"_{type(value).__name__}"
            yield f"{name}: {kind}"
        elif home and home.startswith("rushlight.") and hasattr(sys.modules.get(home), name):
            yield f"from {home.replace('rushlight', '', 1)} import {name} as {name}"
        elif isinstance(value, (rushlight.layout, rushlight.memory_format, rushlight.Generator)):
            yield f"{name}: {type(value).__name__}"
        else:
            yield f"{name}: Any"


def text() -> str:
    """The stub of the package."""
    found = list(stub_signatures.functions(""))
    taken = {line.split("def ", 1)[1].partition("(")[0] for line in found if "def " in line}
    rest = list(others(taken))
    imports = sorted(line for line in rest if line.startswith("from"))
    values = sorted(line for line in rest if not line.startswith("from"))
    start = [
        "from ._tensor import return_types as return_types",
        "from ._torch.types import Number as Number",
        "", "__version__: str",
    ]  # fmt: skip
    switches = [
        f"def {name}{form}: ..."
        for name in amp_switches.NAMES
        for form in stub_signatures.of_python(getattr(amp_switches, name), f"torch.{name}")
    ]
    parts = [*imports, *start, *values, "", *found, *sorted(set(switches)), ""]
    names = textwrap.wrap(", ".join(f'"{name}"' for name in sorted(rushlight.__all__)), 98)
    parts.append("\n".join(["__all__ = [", *(f"    {line}" for line in names), "]", ""]))
    return head("__init__", "The types of `rushlight.*`.") + "\n".join(parts)


def main() -> int:
    """Writes the stubs, and what `help` says; 0."""
    for place, written in texts():
        (PATH.parent / f"{place}.pyi").write_text(written)
    return help_texts.main()


if __name__ == "__main__":
    sys.exit(main())
