"""Importing Rushlight loads what it needs and nothing that is optional."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

OPTIONAL = {"scipy", "ml_dtypes", "cupy", "matplotlib", "rich", "sklearn", "torch"}
OPTIONAL |= {"mypy_extensions", "pytest"}
#: Of the standard library: each takes milliseconds, and importing the package needs none of them.
COSTLY = {"dataclasses", "hashlib", "pathlib", "subprocess", "tempfile"}
COSTLY |= {"ast", "ctypes", "inspect", "mmap", "threading", "urllib", "zipfile"}


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that are loaded in a new process after the statement."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys, json; print(json.dumps([*sys.modules]))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


@pytest.mark.parametrize(
    "statement", ["import rushlight", "import rushlight.nn, rushlight.optim, rushlight.autograd"]
)
def test_an_import_loads_no_optional_package(statement: str) -> None:
    before = loaded_by("pass")  # what the environment loads by itself
    loaded = loaded_by(statement)
    assert "numpy" in loaded
    assert not (loaded - before).intersection(OPTIONAL)


def test_an_import_loads_nothing_costly_beside_numpy() -> None:
    loaded = loaded_by("import rushlight") - loaded_by("import numpy")
    assert not loaded.intersection(COSTLY)


def test_an_import_compiles_no_pattern_and_settles_no_row() -> None:
    program = """
        import numpy, re
        re.purge()
        import rushlight
        from rushlight._table import PUBLIC, ROWS, Row
        print(len(re._cache), len(PUBLIC.ready()))
        print([row.text for rows in ROWS.values() for row in rows if type(row) is Row])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["0 0", "[]"]


def test_the_core_has_after_an_import_what_it_asks_without_a_look() -> None:
    program = """
        import rushlight
        from rushlight._core import hooks, run, slow, views
        print(None in (slow.ERRORS.explain, slow.NARROW.forward, views.REGENERATE.row,
                       views.REGENERATE.renew, hooks.SPARSE.tensor, run.ANOMALY.explain))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "False\n"


def test_the_types_of_the_package_are_announced() -> None:
    import rushlight

    assert Path(rushlight.__file__).with_name("py.typed").exists()
