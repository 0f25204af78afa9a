"""Raw modules that are loaded when something of them is first used."""

import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

import rushlight as torch
from rushlight._array import numpy_namespace as numpy_ns
from rushlight._base import lazy as later
from rushlight._table import ROWS

LATE = {
    "nn.convolution", "random.discrete", "random.distributions", "linalg.einsum", "linalg.fft",
    "linalg.linalg", "nn.pooling", "nn.recurrent",
}  # fmt: skip


def loaded(program: str) -> set[str]:
    """The raw modules that a program has loaded when it ends."""
    code = f"import sys, rushlight as torch\n{program}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    start = "rushlight._array."
    return {name.removeprefix(start) for name in done.stdout.split() if name.startswith(start)}


def test_importing_rushlight_loads_no_module_that_few_operations_need() -> None:
    assert not loaded("") & LATE


def test_importing_rushlight_loads_nothing_that_few_programs_need() -> None:
    code = "import sys, rushlight; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    late = {"_tensor.array_protocol", "_tensor.copies", "_tensor.sharing", "_table.rows.out_dtypes",
            "_table.calls.pooling_checks", "_formula.recurrent_cells", "_array.memory.collation",
            "_array.memory.packed", "_array.memory.parallel", "_array.memory.shared"}  # fmt: skip
    found = {name.removeprefix("rushlight.") for name in done.stdout.split()}
    assert "_tensor.tensor" in found and not found & late


def test_a_call_loads_what_it_needs_and_no_more() -> None:
    found = loaded("torch.linalg.inv(torch.eye(3))") & LATE
    assert found == {"linalg.linalg"}


def test_a_gradient_loads_what_it_needs() -> None:
    program = "x = torch.ones(2, 2, requires_grad=True)\ntorch.erf(x).sum().backward()"
    assert "elementwise.erf" in loaded(program)


@pytest.mark.parametrize("name", sorted(numpy_ns._LATE))
def test_each_late_name_of_the_vocabulary_is_the_function_itself(name: str) -> None:
    module, own = numpy_ns._LATE[name].split(":")
    there = import_module(f"rushlight.{module}")
    assert getattr(numpy_ns, name) is getattr(there, own)
    assert callable(getattr(numpy_ns, name))


def test_no_settled_row_calls_by_a_stand_in() -> None:
    for rows in ROWS.values():
        for row in rows:
            for op in (row.op, row.simple_op):
                assert op is None or type(op.raw) is not later.Function, row.text


def test_a_stand_in_has_what_its_module_has_and_nothing_else() -> None:
    module: Any = later.later("_array.nn.grid_sample")
    there = import_module("rushlight._array.nn.grid_sample")
    assert module.NEAREST is there.NEAREST
    assert module.corners is there.corners
    with pytest.raises(AttributeError):
        _ = module.nothing
    with pytest.raises(AttributeError):
        _ = module.__path__
    with pytest.raises(AttributeError, match="numpy_namespace' has no attribute 'nothing'"):
        _ = numpy_ns.nothing


def test_a_function_that_is_called_before_its_module_is_there_loads_it() -> None:
    made = later.Function("_array.shape.as_strided:element_strides")
    assert made(torch.zeros(2, 3)._raw) == (3, 1)
