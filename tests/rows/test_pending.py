"""What is made late: functions, methods, named results, and the modules that show them."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor, _table as ops
from rushlight._base.lazy import Pending
from rushlight._native.cpython.unbound import function_of
from rushlight._table import PUBLIC, TENSOR_METHODS
from rushlight._table.rows import tensor_namespace as _traced


def run(program: str) -> str:
    """What a program prints in a process of its own, where nothing has been made yet."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- the dictionary ---------------------------------------------------------------------------


def counted() -> tuple[Pending[str], list[str]]:
    made: list[str] = []
    space: Pending[str] = Pending()
    space.later("a", lambda: made.append("a") or 1)
    space["b"] = 2
    space.later("c", lambda: made.append("c") or 3)
    return space, made


def test_going_over_the_keys_makes_nothing() -> None:
    space, made = counted()
    assert list(space) == list(space.keys()) == ["a", "b", "c"] and len(space) == 3
    assert "a" in space and "d" not in space and space.ready() == {"b": 2} and made == []


def test_a_value_is_made_at_the_first_look_and_once() -> None:
    space, made = counted()
    assert space["a"] == space["a"] == space.get("a") == 1 and made == ["a"]
    assert space.get("d", 7) == 7
    with pytest.raises(KeyError):
        space["d"]


def test_going_over_the_values_makes_them_all_in_order() -> None:
    space, made = counted()
    assert space.items() == [("a", 1), ("b", 2), ("c", 3)] and space.values() == [1, 2, 3]
    assert made == ["a", "c"] and dict(space) == {"a": 1, "b": 2, "c": 3}


def test_what_comes_later_under_a_name_takes_its_place() -> None:
    space, made = counted()
    space.update({"a": 5})
    space.later("b", lambda: 6)
    assert (space["a"], space["b"]) == (5, 6) and list(space) == ["a", "b", "c"] and made == []


def test_threads_that_ask_at_once_get_one_value() -> None:
    for _ in range(20):
        space: Pending[str] = Pending()
        space.later("a", object)
        gate = threading.Barrier(4)

        def ask(space: Pending[str] = space, gate: threading.Barrier = gate) -> Any:
            gate.wait()
            return space["a"]

        with ThreadPoolExecutor(4) as pool:
            found = [f.result() for f in [pool.submit(ask) for _ in range(4)]]
        assert all(value is found[0] for value in found)


# ---- functions, methods, modules --------------------------------------------------------------


def test_importing_settles_hardly_a_row_and_a_call_settles_its_own() -> None:
    printed = run(
        "import rushlight as torch\n"
        "from rushlight._table import ROWS, Row\n"
        "def settled(): return {r.name for v in ROWS.values() for r in v if type(r) is Row}\n"
        "before = settled()\n"
        "x = torch.ones(2); x.exp(); torch.atan2(x, x); x - 1\n"
        "print(len(before) < 10, sorted(settled() - before))"
    )
    assert printed == "True ['atan2', 'exp', 'sub']"


def test_every_name_is_listed_before_its_function_is_made() -> None:
    printed = run(
        "import rushlight as torch\n"
        "from rushlight.nn import functional\n"
        "from rushlight import linalg\n"
        "print('atan2' in vars(torch), 'atan2' in dir(torch), hasattr(torch, 'atan2'))\n"
        "print('elu' in dir(functional), 'det' in dir(linalg), 'det' in linalg.__all__)\n"
        "print('atan2' in vars(torch), 'atan2' in dir(torch.Tensor))\n"
        "from rushlight.linalg import *\n"
        "print(det(torch.eye(2)).item())"
    )
    lines = ["False True True", "True True True", "True True", "1.0"]
    assert printed.splitlines() == lines


def test_functions_and_methods_are_the_objects_of_the_table() -> None:
    sub = function_of(torch.sub)
    assert sub is PUBLIC[("", "sub")]
    assert Tensor.sub is TENSOR_METHODS["sub"]
    assert ops.ROWS["sub"][0].op.function is sub
    inner = _traced.table("sub")  # or what takes its usual calls in C
    assert _traced.subtract is inner and getattr(inner, "function", inner) is sub


def test_a_name_that_is_nowhere_is_missing_as_ever() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
        torch.no_such  # noqa: B018
    with pytest.raises(AttributeError, match="no_such"):
        torch.ones(1).no_such  # noqa: B018
    with pytest.raises(AttributeError, match="no_such"):
        _traced.no_such  # noqa: B018
    assert not hasattr(torch.special, "no_such")


def test_a_subclass_may_call_and_replace_a_method_before_it_is_made() -> None:
    printed = run(
        "import rushlight as torch\n"
        "class Mine(torch.Tensor):\n"
        "    def exp(self): return super().exp() + 1\n"
        "    def __add__(self, other): return super().__add__(other) * 2\n"
        "class Other(torch.Tensor): pass\n"
        "Other.log = lambda self: 'own'\n"
        "x = torch.zeros(1)\n"
        "print(x.as_subclass(Mine).exp().item(), (x.as_subclass(Mine) + 1).item())\n"
        "print(x.as_subclass(Other).log(), torch.ones(1).log().item())\n"
        "print(sorted({'exp', 'log'} & (vars(Mine).keys() | vars(Other).keys())))"
    )
    assert printed.splitlines() == ["4.0 2.0", "own 0.0", "['exp', 'log']"]


def test_a_bound_method_is_pickled_and_the_class_can_be_inspected() -> None:
    assert pickle.loads(pickle.dumps(torch.ones(2).neg))().tolist() == [-1, -1]
    members = dict(inspect.getmembers(Tensor))
    assert inspect.isfunction(members["cosh"]) and inspect.isfunction(members["__sub__"])
    assert members["__sub__"].__name__ == "__sub__" and isinstance(members["T"], property)


def test_named_results_are_unpickled_where_their_operation_has_not_run(tmp_path: Any) -> None:
    path = tmp_path / "sorted"
    path.write_bytes(pickle.dumps(torch.sort(torch.tensor([2.0, 1.0]))))
    printed = run(
        "import pickle, sys\n"
        f"found = pickle.load(open({str(path)!r}, 'rb'))\n"
        "print(type(found).__name__, found.indices.tolist())"
    )
    assert printed == "sort [1, 0]"


def test_all_named_results_are_in_their_module_from_the_start() -> None:
    printed = run(
        "from rushlight import return_types as r; print(r.max.__name__, 'linalg_svd' in r.__all__)"
    )
    assert printed == "max True"


def test_importing_leaves_the_collection_of_garbage_as_it_was() -> None:
    program = (
        "import gc; gc.{}(); n = gc.get_freeze_count(); import rushlight; "
        "print(gc.isenabled(), gc.get_freeze_count() == n)"
    )
    assert run(program.format("enable")) == "True True"
    assert run(program.format("disable")) == "False True"
    frozen = "import gc; gc.freeze(); n = gc.get_freeze_count(); import rushlight; "
    assert run(frozen + "print(0 < gc.get_freeze_count() <= n)") == "True"
