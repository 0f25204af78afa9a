"""In which order bounds of slices and their step are refused."""

from typing import Any

import pytest

import rushlight as torch

INDEX = "slice indices must be integers or None or have an __index__ method"
ZERO = "slice step cannot be zero"


@pytest.mark.parametrize(
    ("bounds", "kind", "message"),
    [
        (slice(2, 1.5, 0), TypeError, INDEX), (slice(None, 1.5, 0), TypeError, INDEX),
        (slice(True, "a", 0), TypeError, INDEX), (slice(1.5, 2, 0), TypeError, INDEX),
        (slice(-1, 1.5, 0), ValueError, ZERO), (slice(-1, "a", 0), ValueError, ZERO),
        (slice("a", -1, 0), TypeError, INDEX), (slice(2, -1, 0), ValueError, ZERO),
    ],
)  # fmt: skip
def test_bounds_are_refused_before_a_step_of_zero(bounds: Any, kind: Any, message: str) -> None:
    for index in (bounds, (slice(None), bounds)):
        with pytest.raises(kind, match=message):
            torch.ones(3, 4)[index]


def test_a_write_that_is_refused_needs_no_complex_halves() -> None:
    import subprocess
    import sys

    text = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import rushlight as torch\n"
        "try: torch.ones(2, dtype=torch.float16).sub_(1j)\n"
        "except RuntimeError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-W", "error", "-c", text], capture_output=True,
                           text=True, check=True)  # fmt: skip
    message = "result type ComplexHalf can't be cast to the desired output type Half"
    assert found.stdout.strip() == message
