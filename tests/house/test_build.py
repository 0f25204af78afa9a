"""The core is compiled or plain, never in between, and says which."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _tree import ROOT, parsed, python_files, relative

from rushlight import __config__


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed to build: nothing that is built lands beside the real sources."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    shutil.copytree(ROOT / "src", folder / "src", ignore=left_out)
    return folder


def build(checkout: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("setuptools", reason="setup.py needs setuptools in this environment")
    environment = {k: v for k, v in os.environ.items() if k != "RUSHLIGHT_PURE"}
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-lib", "out"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment, **settings},
    )


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("rushlight:")]


def extensions(checkout: Path) -> list[Path]:
    return [p for p in (checkout / "out").rglob("*") if p.suffix in (".so", ".pyd")]


def test_a_build_without_a_c_compiler_is_plain_and_says_so_in_one_line(checkout: Path) -> None:
    done = build(checkout, CC="no-such-compiler")
    assert done.returncode == 0, done.stderr
    (line,) = said(done)
    assert "stays plain Python: no working C compiler" in line
    assert extensions(checkout) == []
    assert (checkout / "out" / "rushlight" / "_core" / "storage.py").exists()


def test_a_build_that_must_compile_fails_without_a_c_compiler(checkout: Path) -> None:
    done = build(checkout, CC="no-such-compiler", RUSHLIGHT_PURE="0")
    assert done.returncode == 1
    assert "RUSHLIGHT_PURE=0, but no working C compiler" in said(done)[-1]


def test_a_plain_build_does_not_look_for_a_compiler(checkout: Path) -> None:
    done = build(checkout, CC="no-such-compiler", RUSHLIGHT_PURE="1")
    assert (done.returncode, said(done), extensions(checkout)) == (0, [], [])


def test_the_report_names_the_core_that_runs() -> None:
    kind = "compiled by mypyc" if __config__.compiled else "interpreted"
    assert f"core: {kind}" in __config__.show()
    assert __config__.show().startswith("Rushlight 0.")


def test_every_module_of_the_core_is_of_one_kind() -> None:
    suffixes = {
        Path(module.__file__ or "").suffix
        for name, module in sys.modules.items()
        if name.startswith("rushlight._core.") and not name.endswith("__mypyc")
    }
    assert suffixes == ({".py"} if not __config__.compiled else suffixes - {".py"})


def test_rushlight_pure_takes_the_sources_also_where_compiled_modules_lie() -> None:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from rushlight import __config__ as c; print(c.compiled, c.show())",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": path, "RUSHLIGHT_PURE": "1"},
    )
    assert done.stdout.startswith("False ")
    assert "interpreted, as RUSHLIGHT_PURE asks" in done.stdout


def test_nothing_that_wheels_do_without_is_imported_by_what_they_have() -> None:
    (left_out,) = [
        {f"src/{name}" for name in ast.literal_eval(node.value)}
        for node in parsed(ROOT / "setup.py").body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FOR_BUILDS"
    ]
    assert len(left_out) == 4 and all((ROOT / path).is_file() for path in left_out)
    names = {Path(path).stem for path in left_out}
    for path in python_files("src"):
        if relative(path) in left_out:
            continue
        nodes = list(ast.walk(parsed(path)))
        for_types = {
            id(inner)
            for node in nodes
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in node.body
        }
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in for_types:
                words = set(re.findall(r"\w+", ast.unparse(node)))
                assert not words & names, relative(path)
