"""Transforms, windows, masked reductions, attention, CTC and their kin do what they do on torch.

Every sample of torch's own database: values, dtypes, strides, variants, gradients of both orders,
tangents, and the classes and texts of errors. What differs for a known reason is listed.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

from tests.compare.operators import runner  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

MINE = (
    r"^(fft\..*|stft|istft|signal\..*|masked\..*|_segment_reduce:.*|hash_tensor"
    r"|linalg\.ldl_.*|svd_lowrank|pca_lowrank|new_empty_strided|empty_permuted"
    r"|nn\.functional\.(ctc_loss|scaled_dot_product_attention|multi_head_attention_forward"
    r"|linear_cross_entropy.*|rrelu|pdist))$"
)
#: operator -> checks that differ, and why
KNOWN: dict[str, tuple[set[str], str]] = {
    "fft.ihfftn": ({"out"}, "PyTorch leaves out= untouched where one dimension is transformed"),
    "fft.ihfft2": ({"out"}, "PyTorch leaves out= untouched where one dimension is transformed"),
    "istft": ({"gradient", "second"}, "PyTorch loses the gradient of some windows"),
    "masked.logaddexp": ({"strides"}, "the layout of `where` with permuted operands"),
    "svd_lowrank": ({"refused", "refused_text"}, "integers are refused by `randn`"),
    "pca_lowrank": ({"refused", "refused_text"}, "integers are refused by `randn`"),
    "nn.functional.linear_cross_entropy:chunked": (
        {"second"}, "PyTorch's chunked path has no second derivative; this one has"
    ),
    "nn.functional.multi_head_attention_forward": (
        {"refused", "refused_text"}, "bool operands are refused elsewhere, in other words"
    ),
}  # fmt: skip


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's test modules miss optional packages
    NAMES = runner.names(MINE)


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_is_that_of_torch(name: str) -> None:
    options = argparse.Namespace(seed=0, samples=6, limit=60)
    result = runner.examine(name, options)
    assert result["complete"]
    known = KNOWN.get(name, (set(), ""))[0]
    wrong = {check for check, (_, bad) in result["counts"].items() if bad}
    told = {check: result["words"][check][:3] for check in wrong - known}
    assert wrong <= known, told
    assert sum(good for good, _ in result["counts"].values()) > 0


def draws(module: Any, dtype: str) -> list[Any]:
    """Numbers from one seed, and what the stream gives afterwards."""
    kind = getattr(module, dtype)
    module.manual_seed(0)
    shape = module.rand(200, dtype=kind) * 12
    module.manual_seed(3)
    found = [
        module.poisson(shape),
        module.poisson(shape * 9),
        module.binomial((shape * 20).floor(), shape / 13),
        module._standard_gamma(shape),
        module._standard_gamma(shape / 14),
        module._sample_dirichlet(shape.reshape(100, 2)),
        module.rrelu(shape - 6, 0.1, 0.3, True),
        *module.native_dropout(shape, 0.3, True),
        module.rand(3),
        module.randn(3),
    ]
    return [t.tolist() for t in found]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_draws_by_rejection_are_those_of_torch(dtype: str) -> None:
    import rushlight

    assert draws(rushlight, dtype) == draws(torch, dtype)


def test_the_derivative_of_a_gamma_sample_is_near_that_of_torch() -> None:
    import rushlight

    values = [[0.2, 0.05], [1.0, 2.0], [4.0, 1.5], [30.0, 33.0], [0.7, 3.0]]
    found = []
    for module in (rushlight, torch):
        pairs: Any = module.tensor(values, dtype=module.float64)
        grad: Any = module
        found.append(grad._standard_gamma_grad(pairs[:, 0], pairs[:, 1]).tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-3)
