"""`RUSHLIGHT_AS_TORCH=1` reaches every process that is started, and costs the others nothing."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight

SOURCE = Path(rushlight.__file__).resolve().parents[1]
LINE = SOURCE / "rushlight.pth"


@pytest.fixture
def hooked(tmp_path: Path) -> dict[str, str]:
    """An environment in which Python reads the line at its start, as in an installation."""
    if not LINE.exists():
        # An installed wheel: the line lies where Python reads it anyway.
        assert any(Path(folder, "rushlight.pth").exists() for folder in site.getsitepackages())
    folder = tmp_path / "site"
    folder.mkdir()
    if LINE.exists():
        (folder / "rushlight.pth").write_text(LINE.read_text())
    (tmp_path / "sitecustomize.py").write_text(f"import site; site.addsitedir({str(folder)!r})\n")
    path = [str(tmp_path), *(os.path.abspath(entry) for entry in sys.path if entry)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "RUSHLIGHT_AS_TORCH": "1"}


def run(env: dict[str, str], *arguments: str, cwd: Path | None = None) -> list[str]:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=100, env=env, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_import_torch_gives_rushlight(hooked: dict[str, str]) -> None:
    code = "import torch.nn, rushlight; print(torch.nn.__name__, torch is rushlight)"
    assert run(hooked, "-c", code) == ["rushlight.nn True"]


def test_functorch_comes_with_it_whoever_is_imported_first(hooked: dict[str, str]) -> None:
    code = "import functorch, torch, rushlight; print(functorch.vmap.__name__, torch is rushlight)"
    assert run(hooked, "-c", code) == ["vmap True"]


def test_torch_is_found_before_it_is_imported_and_nothing_is_loaded_for_that(
    hooked: dict[str, str],
) -> None:
    code = """
import importlib.util, sys
print(importlib.util.find_spec("torch").origin.endswith("__init__.py"), "rushlight" in sys.modules)
import importlib.metadata
print(importlib.metadata.version("torch"))
import torch
import rushlight
print(torch is rushlight, torch.__spec__.name)
"""
    found = run(hooked, "-c", code)
    assert found == ["True False", "2.13.0", "True rushlight"]


def test_without_the_variable_nothing_is_changed(hooked: dict[str, str]) -> None:
    for value in ("", "0"):
        code = "import sys; print('_rushlight_site' in sys.modules)"
        assert run({**hooked, "RUSHLIGHT_AS_TORCH": value}, "-c", code) == ["False"]


def test_a_program_of_python_m_rushlight_hands_the_name_on(
    hooked: dict[str, str], tmp_path: Path
) -> None:
    del hooked["RUSHLIGHT_AS_TORCH"]
    path = tmp_path / "program.py"
    path.write_text(
        "import subprocess, sys\n"
        "code = 'import torch; print(torch.nn.__name__)'\n"
        "print(subprocess.check_output([sys.executable, '-c', code], text=True).strip())\n"
    )
    assert run(hooked, "-m", "rushlight", str(path)) == ["rushlight.nn"]


def test_spawned_processes_and_workers_of_loaders_import_it_too(
    hooked: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        """
import torch, torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor(i * i)

def fill(i, shared):
    shared[i] = i + 1

if __name__ == "__main__":
    shared = torch.zeros(2).share_memory_()
    mp.spawn(fill, args=(shared,), nprocs=2)
    print(shared.tolist())
    loader = DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context="spawn")
    print([batch.tolist() for batch in loader])
"""
    )
    assert run(hooked, str(path)) == ["[1.0, 2.0]", "[[0, 1], [4, 9]]"]


def test_pytest_runs_tests_of_torch_on_it(hooked: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import torch.nn\n\ndef test_name():\n    assert torch.nn.__name__ == 'rushlight.nn'\n"
    )
    lines = run(hooked, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", cwd=tmp_path)
    assert lines[-1].startswith("1 passed")
