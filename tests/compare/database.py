"""Samples of torch's own operator database, run on torch and on Rushlight.

Of each sample: values, first and second gradients in double precision; of each wrong call: the kind
of the exception and its words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import rushlight
from rushlight.nn import functional

with warnings.catch_warnings():  # it misses a package that nothing here needs
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db


def operators(*names: str) -> list[Any]:
    """The database's entries of these names, variants included."""
    return [op for op in op_db if op.name in names]


def title(op: Any) -> str:
    """The name of an entry, with its variant."""
    return str(op.name) + (":" + op.variant_test_name if op.variant_test_name else "")


def function(op: Any) -> Any:
    """What stands under the entry's name here."""
    name = op.name.removeprefix("nn.functional.")
    return getattr(functional if name != op.name else rushlight, name)


def translated(value: Any) -> Any:
    """An argument of torch as one of Rushlight: the same elements in the same layout."""
    if isinstance(value, torch.Tensor):
        strides = value.stride()
        array = value.detach().resolve_conj().numpy()
        made = rushlight.from_numpy(np.array(array, order="K")) if array.size else (
            rushlight.from_numpy(np.zeros(array.shape, array.dtype))
        )  # fmt: skip
        if made.stride() != strides and array.size:
            made = rushlight.from_numpy(array)
        return made.requires_grad_() if value.requires_grad else made
    if isinstance(value, torch.dtype):
        return getattr(rushlight, str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return type(value)(translated(v) for v in value)
    return value


def samples(op: Any, dtype: torch.dtype, gradients: bool, most: int = 8) -> Iterator[Any]:
    """At most so many samples, spread over all."""
    torch.manual_seed(0)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=gradients))
    yield from found[:: max(1, len(found) // most)][:most]


def run(f: Any, module: Any, sample: Any, convert: Any) -> tuple[list[Any], list[Any]]:
    """The results of a sample as a list, and its inputs that require grad."""
    args = [convert(a) for a in (sample.input, *sample.args)]
    kwargs = {k: convert(v) for k, v in sample.kwargs.items()}
    module.manual_seed(42)
    out = f(*args, **kwargs)
    wanted = [a for a in (*args, *kwargs.values()) if getattr(a, "requires_grad", False)]
    return list(out) if isinstance(out, (list, tuple)) else [out], wanted


def numbers(t: Any) -> Any:
    """A tensor's elements as an array, None for no tensor."""
    return None if t is None else np.asarray(t.detach().tolist()).reshape(tuple(t.shape))


def gradients(module: Any, outs: list[Any], inputs: list[Any]) -> list[Any]:
    """First gradients for fixed cotangents, then those of their weighted sums."""
    live = [o for o in outs if o.requires_grad]
    seeds = []
    for o in live:
        rng = np.random.default_rng(o.numel())
        kind = str(o.dtype).rpartition(".")[2]
        values = rng.standard_normal(tuple(o.shape)).astype(kind)
        seeds.append(module.from_numpy(values).requires_grad_())
    first = module.autograd.grad(live, inputs, seeds, create_graph=True, allow_unused=True)
    traced = [g for g in first if g is not None and g.requires_grad]
    goals = [*inputs, *seeds]
    weights = [g.detach() * 0.5 + 1 for g in traced]
    second = module.autograd.grad(traced, goals, weights, allow_unused=True) if traced else []
    return [numbers(g) for g in (*first, *second)]


def assert_close(got: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Fails unless two arrays (or absences) agree; an absent gradient may be zeros."""
    if got is None or wanted is None:
        other = wanted if got is None else got
        assert other is None or not np.any(other), f"{what}: one side has no gradient"
        return
    assert got.shape == wanted.shape, f"{what}: {got.shape} instead of {wanted.shape}"
    assert np.allclose(got, wanted, tolerance, tolerance, equal_nan=True), what


def compare_values(op: Any, dtype: torch.dtype, tolerance: float) -> int:
    """Compares values, element types and layouts of all samples; how many there were."""
    count = 0
    for sample in samples(op, dtype, False):
        wanted, _ = run(op.op, torch, sample, lambda a: a)
        got, _ = run(function(op), rushlight, sample, translated)
        what = f"{title(op)} {tuple(sample.input.shape)} {sample.args} {sample.kwargs}"
        assert len(got) == len(wanted), what
        for g, w in zip(got, wanted):
            assert str(g.dtype).rpartition(".")[2] == str(w.dtype).rpartition(".")[2], what
            assert_close(numbers(g), numbers(w), tolerance, what)
            assert not w.numel() or w.is_contiguous() == g.is_contiguous(), what
        count += 1
    return count


def compare_gradients(op: Any, dtype: torch.dtype, tolerance: float = 1e-7) -> int:
    """Compares first and second gradients of all samples; how many there were."""
    count = 0
    for sample in samples(op, dtype, True):
        outs, inputs = run(op.op, torch, sample, lambda a: a)
        mine, own = run(function(op), rushlight, sample, translated)
        what = f"{title(op)} {tuple(sample.input.shape)} {sample.args} {sample.kwargs}"
        wanted = gradients(torch, outs, inputs)
        got = gradients(rushlight, mine, own)
        assert len(got) == len(wanted), what
        for g, w in zip(got, wanted):
            assert_close(g, w, tolerance, what)
        count += 1
    return count


def compare_errors(op: Any) -> int:
    """Compares the exceptions of all wrong calls; how many there were."""
    if op.error_inputs_func is None:
        return 0
    count = 0
    for wrong in op.error_inputs("cpu"):
        said = []
        for f, module, convert in (
            (op.op, torch, lambda a: a),
            (function(op), rushlight, translated),
        ):
            try:
                run(f, module, wrong.sample_input, convert)
            except Exception as error:
                kind = type(error).__name__
                said.append((kind, str(error)))
            else:
                said.append(("none", ""))
        assert said[0] == said[1], f"{title(op)}: {said[1]} instead of {said[0]}"
        count += 1
    return count
