"""The stub that editors and type checkers read says what the package has."""

import ast
import site
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight
from tests.table import stubs


def names_of(text: str) -> set[str]:
    """The names that a stub defines."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def checked(program: Path, folder: Path) -> str:
    """What mypy says of a program."""
    source = str(Path(rushlight.__file__).parents[1])
    path = {} if source in site.getsitepackages() else {"MYPYPATH": source}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--no-error-summary",
         f"--cache-dir={folder / 'cache'}", str(program)],
        capture_output=True, text=True, timeout=300, env={**path, "PATH": ""},
    )  # fmt: skip
    return done.stdout + done.stderr


def test_the_stub_is_up_to_date() -> None:
    assert stubs.PATH.read_text() == stubs.text(), "run `python -m tests.table.stubs`"


def test_the_stub_has_every_public_function() -> None:
    missing = {name for name in rushlight._TABLE.names if name.isidentifier()}
    missing -= names_of(stubs.PATH.read_text())
    assert not missing - {"lambda"}, sorted(missing)


def test_the_stub_has_the_names_that_users_see_first() -> None:
    first = {"Tensor", "nn", "optim", "float32", "no_grad", "manual_seed", "device", "pi", "cuda"}
    assert first <= names_of(stubs.PATH.read_text())


def test_a_type_checker_knows_what_functions_give(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import rushlight as torch\n"
        "x = torch.randn(3, 4)\n"
        "reveal_type(torch.add(x, 2))\n"
        "reveal_type(torch.float32)\n"
        "reveal_type(torch.is_tensor(x))\n"
        "torch.no_such_function(x)\n"
        "torch.add('a', x)\n"
    )
    lines = checked(program, tmp_path)
    assert 'Revealed type is "rushlight._tensor.tensor.Tensor"' in lines, lines
    assert 'Revealed type is "rushlight._base.dtypes.dtype"' in lines, lines
    assert "no_such_function" in lines, lines
    assert 'Argument 1 to "add" has incompatible type "str"' in lines, lines


def test_a_typed_forward_types_the_call_of_its_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import rushlight as torch\n"
        "from rushlight import nn\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x: torch.Tensor, n: int = 2) -> tuple[torch.Tensor, int]:\n"
        "        return x, n\n"
        "reveal_type(Net()(torch.ones(2), n=3))\n"
        "reveal_type(nn.Linear(2, 2)(torch.ones(2)))\n"
        "Net()('a')\n"
        "def call(module: nn.Module) -> None:\n"
        "    reveal_type(module(1, k=2))\n"
    )
    lines = checked(program, tmp_path)
    assert 'Revealed type is "tuple[rushlight._tensor.tensor.Tensor, int]"' in lines, lines
    assert 'Revealed type is "rushlight._tensor.tensor.Tensor"' in lines, lines
    assert 'incompatible type "str"; expected "Tensor"' in lines, lines
    assert 'Revealed type is "Any"' in lines, lines
