"""Modules of rows are loaded when somebody asks for what they declare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rushlight._table import FAMILIES
from rushlight._table.rows.row import DECLARED
from tests.table._samples import all_rows

ROOT = Path(__file__).resolve().parents[2]


def run(program: str) -> list[str]:
    """What a program prints, by lines, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def loaded(program: str) -> set[str]:
    """The modules of families that a program has loaded when it ends."""
    code = f"import sys, rushlight as torch\n{program}\nprint(*sys.modules)"
    start = "rushlight._table."
    found = {name.removeprefix(start) for name in run(code)[-1].split() if name.startswith(start)}
    return {name for name in found if name.partition(".")[0] in FAMILIES and "." in name}


def test_the_list_of_homes_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.table.homes", "--check"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, f"run `python -m tests.table.homes`: {done.stdout}{done.stderr}"


def test_importing_loads_the_rows_that_the_core_calls() -> None:
    found = loaded("dir(torch); dir(torch.Tensor); hasattr(torch, 'linalg'); torch.no_grad()")
    assert "shape.index" in found and len(found) < 15
    assert not any(name.startswith(("linalg.", "nn.", "reduce.")) for name in found)


def test_the_first_use_of_a_function_loads_its_module_and_few_others() -> None:
    before = loaded("")
    found = loaded("torch.linalg.svd(torch.eye(2))") - before
    assert "linalg.decompose" in found
    assert not any(name.startswith(("nn.", "random.")) for name in found)
    assert loaded("torch.Tensor.cumsum") - before >= {"reduce.scan"}
    assert loaded("torch.eye(2).add_(1)") - before >= {"elementwise.arithmetic"}
    assert "nn.ctc_loss" in loaded("torch.nn.functional.ctc_loss") - before


def test_a_module_of_rows_may_be_loaded_while_another_thread_holds_the_lock() -> None:
    # Else two threads could wait for each other: one has the lock and waits for the module.
    printed = run(
        "import faulthandler, threading\n"
        "from importlib import import_module\n"
        "faulthandler.dump_traceback_later(60, exit=True)\n"
        "from rushlight._table import homes\n"
        "from rushlight._base.lazy import LOCK\n"
        "held, done = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with LOCK:\n"
        "        held.set(); done.wait()\n"
        "threading.Thread(target=hold).start(); held.wait()\n"
        "for name in {**homes.ROWS, **homes.COMPOSITES}:\n"
        "    import_module(f'rushlight._table.{name}')\n"
        "done.set(); print('all')"
    )
    assert printed == ["all"]


def test_threads_that_use_operations_first_at_once_get_them() -> None:
    printed = run(
        "import faulthandler, threading\n"
        "faulthandler.dump_traceback_later(90, exit=True)\n"
        "import rushlight as torch\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "uses = [lambda: torch.linalg.det(torch.eye(2)),\n"
        "        lambda: torch.cumsum(torch.ones(2), 0)[1],\n"
        "        lambda: torch.nn.functional.relu(torch.ones(1)), lambda: torch.ones(2).median(),\n"
        "        lambda: __import__('rushlight.sparse').ones(1).sin_().asin(),\n"
        "        lambda: torch.fft.fft(torch.ones(1)).real] * 2\n"
        "gate = threading.Barrier(len(uses))\n"
        "def use(one):\n"
        "    gate.wait(); return round(float(one()), 6)\n"
        "with ThreadPoolExecutor(len(uses)) as pool: found = list(pool.map(use, uses))\n"
        "print(found == [1, 2, 1, 1, 1, 1] * 2, found)"
    )
    assert printed[0].startswith("True"), printed


def test_a_public_module_is_imported_while_another_thread_loads_what_it_needs() -> None:
    printed = run(
        "import faulthandler, importlib, threading, time\n"
        "from importlib.machinery import SourceFileLoader\n"
        "faulthandler.dump_traceback_later(60, exit=True)\n"
        "import rushlight\n"
        "begun, load = threading.Event(), SourceFileLoader.exec_module\n"
        "def slowly(self, module):\n"
        "    if module.__name__ == 'rushlight._array.linalg.linalg':\n"
        "        begun.set(); time.sleep(0.3); import colorsys\n"
        "    load(self, module)\n"
        "SourceFileLoader.exec_module = slowly\n"
        "other = threading.Thread(\n"
        "    target=importlib.import_module, args=['rushlight._array.linalg.linalg'])\n"
        "other.start()\n"
        "assert begun.wait(30)\n"
        "import rushlight.linalg\n"
        "other.join(); print(float(rushlight.linalg.det(rushlight.eye(2))))"
    )
    assert printed == ["1.0"]


@pytest.mark.parametrize("name", ["compare", "rounding", "arithmetic"])
def test_a_module_that_failed_to_load_is_loaded_again_as_if_nothing_had_been(name: str) -> None:
    printed = run(
        "import rushlight as torch\n"
        "from rushlight._table import homes, ROWS\n"
        "from rushlight._table.rows import row as rows\n"
        f"names = homes.ROWS['elementwise.{name}'].split()\n"
        "class Failing(rows.Unsettled):\n"
        "    __slots__ = ()\n"
        "    left = 0\n"
        "    def __new__(cls):\n"
        "        Failing.left -= 1\n"
        "        if Failing.left < 0: raise MemoryError\n"
        "        return object.__new__(good)\n"
        "good, rows.Unsettled = rows.Unsettled, Failing\n"
        "for count in (0, 1, 5, len(names)):\n"
        "    Failing.left = count\n"
        "    try: getattr(torch, names[0]); print('found')\n"
        "    except MemoryError: pass\n"
        "rows.Unsettled = good\n"
        "for name in names:\n"
        "    print(name, *[(r.overload, r.op.node_class.__name__) for r in ROWS[name]])"
    )
    names = {row.name for row in all_rows()}
    assert printed
    for line in printed:
        found = line.partition(" ")[0]
        assert found in names
        kinds = [(r.overload, r.op.node_class.__name__) for r in DECLARED[found]]
        assert line == " ".join([found, *map(str, kinds)])


def test_node_names_do_not_depend_on_which_module_is_loaded_first() -> None:
    program = (
        "from importlib import import_module\n"
        "from rushlight._table import homes\n"
        "from rushlight._table.rows.row import DECLARED\n"
        "for name in {order}(homes.ROWS): import_module(f'rushlight._table.{{name}}')\n"
        "for rows in sorted(DECLARED.items()):\n"
        "    print(rows[0], *[(row.overload, row.node) for row in rows[1]])"
    )
    there = [
        " ".join([name, *[str((row.overload, row.node)) for row in rows]])
        for name, rows in sorted(DECLARED.items())
    ]
    assert len(all_rows()) > 500
    assert run(program.format(order="list")) == run(program.format(order="reversed")) == there
