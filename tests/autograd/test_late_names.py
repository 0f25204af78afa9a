"""Names of `autograd` that load when they are asked for."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "first",
    ["from rushlight.autograd import gradgradcheck", "import rushlight.autograd.gradcheck",
     "from rushlight.autograd.gradcheck import GradcheckError", "rushlight.autograd.gradcheck"],
)  # fmt: skip
def test_gradcheck_is_the_function_however_its_module_is_loaded(first: str) -> None:
    text = f"import rushlight; {first}; print(type(rushlight.autograd.gradcheck).__name__)"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                           check=True)  # fmt: skip
    assert found.stdout.strip() == "function"
