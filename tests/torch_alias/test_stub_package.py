"""Stubs for programs that say `import torch`."""

import importlib.util
from pathlib import Path

import pytest

from rushlight.__main__ import main
from tests.stubs._checking import HEAD, expressions, mypy, types_of

IMPORTS = """
import torch.nn.functional
import torch.linalg as LA
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import StepLR
from torch.cuda.amp import GradScaler
from torch.autograd.graph import saved_tensors_hooks
"""


def test_every_public_module_has_a_stub(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stubs", "--as-torch", str(tmp_path)]) == 0
    assert "files in" in capsys.readouterr().out
    stubs = tmp_path / "torch"
    for name in (
        "__init__",
        "nn/__init__",
        "nn/functional",
        "fft",
        "optim/adam",
        "utils/data/__init__",
    ):
        assert (stubs / f"{name}.pyi").exists(), name
    assert not [path for path in stubs.rglob("*.pyi") if "from ." in path.read_text()]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_programs_that_import_torch_are_typed(tmp_path: Path) -> None:
    stubs = tmp_path / "typings"
    main(["stubs", "--as-torch", str(stubs)])
    found = types_of("torch", tmp_path, path=stubs)
    wrong = [(e, f) for (e, r), f in zip(expressions(), found, strict=True) if f != r]
    assert wrong == []
    said = mypy(HEAD.format(torch="torch") + IMPORTS + "x.no_such()\n", tmp_path, path=stubs)
    assert list(said) == [IMPORTS.count("\n")], said
