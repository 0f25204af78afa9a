"""Tests of packages that pass on PyTorch and not on Rushlight, each with its reason."""

from __future__ import annotations

#: Under a package's name: what a test's name begins with, and why it does not pass.
NAMED: dict[str, dict[str, str]] = {
    "captum": {
        "tests/attr/test_deeplift_classification.py::Test::test_softmax_classification_batch_z": (
            "rounding errors of float32 against 0.003: PyTorch passes with every other seed"
        ),
    },
    "pyro-ppl": dict.fromkeys(
        (
            "pyro/distributions/torch.py::pyro.distributions.torch.Categorical",
            "pyro/distributions/torch.py::pyro.distributions.torch.Independent",
        ),
        "the examples of PyTorch's docstring, which pyro copies; Rushlight's has none",
    ),
}


def reason(package: str, test: str) -> str | None:
    """Why a test of a package does not pass here, if that is known."""
    known = NAMED.get(package, {})
    return next((why for start, why in known.items() if test.startswith(start)), None)
