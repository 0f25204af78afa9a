"""Random programs that take views of views and write through them, on PyTorch and on Rushlight
alike.

A program is a list of steps, each on one of the tensors made so far. After every step both
implementations must agree on values, versions and node names; at the end on the gradients of all
tensors.
"""

from __future__ import annotations

import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

PROGRAMS_PER_SEED = 120
Step = tuple[str, int, Any]

VIEWS: dict[str, Any] = {
    "first": lambda t, k: t[k % t.shape[0]] if t.ndim and t.shape[0] else t[...],
    "tail": lambda t, k: t[k % 2 :] if t.ndim else t[...],
    "every_other": lambda t, k: t[..., ::2] if t.ndim else t[None],
    "column": lambda t, k: t[..., k % t.shape[-1]] if t.ndim and t.shape[-1] else t[...],
    "turned": lambda t, k: t.transpose(0, -1) if t.ndim else t.unsqueeze(0),
    "flat": lambda t, k: t.view(-1),
    "reshaped": lambda t, k: t.reshape(-1),
    "unsqueezed": lambda t, k: t.unsqueeze(k % (t.ndim + 1)),
    "squeezed": lambda t, k: t.squeeze(),
    "diagonal": lambda t, k: t.diagonal() if t.ndim > 1 else t[...],
    "narrowed": lambda t, k: t.narrow(0, 0, 1) if t.ndim and t.shape[0] else t[...],
    "unfolded": lambda t, k: t.unfold(-1, 1, 1) if t.ndim and t.shape[-1] else t[...],
    "window": lambda t, k: t.as_strided((1,), (1,), k % (t._base if t._is_view() else t).numel()),
    "pieces": lambda t, k: t.split(1)[0] if t.ndim and t.shape[0] else t[...],
    "unbound": lambda t, k: t.unbind()[k % t.shape[0]] if t.ndim and t.shape[0] else t[...],
    "unbound_last": lambda t, k: t.unbind(-1)[-1] if t.ndim and t.shape[-1] else t[...],
    "chunk": lambda t, k: t.chunk(2, -1)[-1] if t.ndim and t.shape[-1] else t[...],
    "expanded": lambda t, k: t.expand(2, *t.shape),
    "spread": lambda t, k: t.unsqueeze(-1).expand(*t.shape, 3),
    "swapped": lambda t, k: t.transpose(0, 1) if t.ndim > 1 else t[...],
    "permuted": lambda t, k: t.permute(*reversed(range(t.ndim))),
    "steps": lambda t, k: t[..., k % 2 :: 2] if t.ndim else t[...],
    "start": lambda t, k: t.as_strided((2,), (1,)) if t.numel() > 3 else t[...],
    "same": lambda t, k: t.view_as(t),
    "data": lambda t, k: t.data,
    "detached": lambda t, k: t.detach(),
    "named_detached": lambda t, k: t.detach()[..., None],
    "copied": lambda t, k: t.clone(),
    "scaled": lambda t, k: t * 2,
}  # fmt: skip
WRITES: dict[str, Any] = {
    "mul_": lambda t, w: t.mul_(w),
    "add_": lambda t, w: t.add_(w * 2),
    "number": lambda t, w: t.mul_(3),
    "zero_": lambda t, w: t.zero_(),
    "fill_": lambda t, w: t.fill_(w),
    "copy_": lambda t, w: t.copy_(w),
    "set_first": lambda t, w: t.__setitem__(0, w),
    "set_all": lambda t, w: t.__setitem__(slice(None) if t.ndim else ..., w * w),
    "set_list": lambda t, w: t.__setitem__([0], w),
    "sin_": lambda t, w: t.sin_(),
    "div_": lambda t, w: t.div_(w + 1),
    "addcmul_": lambda t, w: t.addcmul_(w, w),
    "masked_fill_": lambda t, w: t.masked_fill_(t > 2, 0.5),
    "clamp_": lambda t, w: t.clamp_(max=3.0),
    "index_fill_": lambda t, w: (
        t.index_fill_(0, t.new_zeros(1).long(), 2.0) if t.ndim and t.numel() else t
    ),
    "cumsum_": lambda t, w: t.cumsum_(0),
    "relu_": lambda t, w: t.relu_(),
    "neg_": lambda t, w: t.neg_(),
}
# Writes of one of the tensors into another, and what they make together.
TOGETHER: dict[str, Any] = {
    "copy_other_": lambda t, s: t.copy_(s),
    "add_other_": lambda t, s: t.add_(s),
    "mul_other_": lambda t, s: t.mul_(s),
    "set_part_": lambda t, s: t.__setitem__(..., s),
    "sum": lambda t, s: t + s,
    "product": lambda t, s: t * s,
    "where": lambda t, s: s.where(s > 2, t),
}
# Other metadata for the same memory.
TURNS: dict[str, Any] = {
    "t_": lambda t, k: t.t_(),
    "unsqueeze_": lambda t, k: t.unsqueeze_(k % (t.ndim + 1)),
    "squeeze_": lambda t, k: t.squeeze_(),
    "squeeze_dim_": lambda t, k: t.squeeze_(k % max(t.ndim, 1)),
    "transpose_": lambda t, k: t.transpose_(0, -1),
    "swapaxes_": lambda t, k: t.swapaxes_(-1, k % max(t.ndim, 1)),
    "as_strided_": lambda t, k: (
        t.as_strided_((t.numel() // 2,), (1,), t.storage_offset()) if t.numel() > 1 else t
    ),
    "detach_": lambda t, k: t.detach_(),
    "requires_grad_": lambda t, k: t.requires_grad_(),
    "requires_no_grad_": lambda t, k: t.requires_grad_(False),
    "retain": lambda t, k: t.retain_grad(),
}


def program(rng: random.Random) -> list[Step]:
    steps: list[Step] = []
    for _ in range(rng.randint(2, 8)):
        mode = rng.choice(["no_grad ", "inference "]) if rng.random() < 0.13 else ""
        kind = rng.random()
        detail: Any = rng.randrange(4)
        if kind < 0.5:
            name = rng.choice(list(VIEWS))
        elif kind < 0.6:
            name = rng.choice(list(TURNS))
        elif kind < 0.75:
            name = rng.choice(list(TOGETHER))
            detail = rng.randrange(100)
        else:
            name = rng.choice(list(WRITES))
            detail = rng.random() < 0.6
        steps.append((mode + name, rng.randrange(100), detail))
    return steps


def names(t: Any) -> list[str]:
    found: list[str] = []
    try:
        node = t.grad_fn
    except RuntimeError as error:  # a view that can't follow what was done to its base
        return [str(error)]
    while node is not None and len(found) < 6:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def version(t: Any) -> Any:
    return "inference" if t.is_inference() else t._version


def strides_of(t: Any, first: Any) -> list[int]:
    """The strides of a view of the first tensor, but of dimensions of size one.

    Results of operations on tensors in odd orders may be in another order in memory.
    """
    return [s for s, n in zip(t.stride(), t.shape) if n != 1 and t.numel() and t._base is first]


def retains(t: Any) -> Any:
    try:
        return t.grad_fn is not None and t.retains_grad
    except RuntimeError as error:
        return str(error)


def state(tensors: list[Any]) -> list[Any]:
    places = {id(t): number for number, t in enumerate(tensors)}
    return [
        (
            t.detach().numpy().tolist(), version(t), names(t), t.requires_grad, t._is_view(),
            strides_of(t, tensors[0]), t.storage_offset() if t.numel() else 0,
            places.get(id(t._base)), t.output_nr, retains(t),
        )
        for t in tensors
    ]  # fmt: skip


def mode_called(name: str, implementation: ModuleType) -> Any:
    if name == "inference":
        return implementation.inference_mode()
    return implementation.no_grad() if name else implementation.enable_grad()


def run(
    steps: list[Step], grad: bool, shape: tuple[int, ...], implementation: ModuleType
) -> list[Any]:
    """What one implementation shows after every step, and the gradients at the end."""
    values = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    x = implementation.from_numpy(values).requires_grad_(grad)
    w = implementation.tensor(1.5, dtype=implementation.float64, requires_grad=True)
    plain = implementation.tensor(2.5, dtype=implementation.float64)
    tensors = [x * 1]
    seen: list[Any] = []
    for name, which, detail in steps:
        where, _, name = name.rpartition(" ")
        t = tensors[which % len(tensors)]
        if name in TURNS and (where or retains(t)):
            # A turned tensor keeps no gradient in PyTorch, and an old node its old shape.
            continue
        try:
            with mode_called(where, implementation):
                if name in VIEWS:
                    tensors.append(VIEWS[name](t, detail))
                elif name in TURNS:
                    TURNS[name](t, detail)
                elif name in TOGETHER:
                    source = tensors[detail % len(tensors)]
                    orderly = t.is_contiguous() and source.is_contiguous()
                    if name[-1] == "_" and (not orderly or t.numel() < 2):
                        # What overlaps unseen is written in an order of PyTorch's own.
                        source = source * 1
                    elif not orderly:
                        continue  # the result may lie in another order in memory
                    made = TOGETHER[name](t, source)
                    if made is not None and made is not t:
                        tensors.append(made)
                else:
                    WRITES[name](t, w if detail else plain)
        except (RuntimeError, IndexError, TypeError) as error:
            seen.append((type(error).__name__, str(error)))
        seen.append(state(tensors))
    for t in tensors:
        try:
            if not t.requires_grad or t.grad_fn is None:
                continue
            grads = implementation.autograd.grad(
                (t * t).sum(),
                [s for s in (x, w) if s.requires_grad],
                retain_graph=True,
                allow_unused=True,
            )
            seen.append([None if g is None else g.numpy().tolist() for g in grads])
        except RuntimeError as error:
            seen.append(str(error))
    return seen


def rounded(seen: Any) -> Any:
    """What a run showed without the last digits of its numbers."""
    if isinstance(seen, float):
        return float(f"{seen:.9g}") + 0.0
    if isinstance(seen, (list, tuple)):
        return [rounded(item) for item in seen]
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_on_views_agree(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(PROGRAMS_PER_SEED):
        steps = program(rng)
        grad = rng.random() < 0.8
        shape = rng.choice([(3,), (2, 3), (3, 3), (2, 1, 3), (1,), (2, 2, 2)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = rounded(run(steps, grad, shape, rushlight))
            assert mine == rounded(run(steps, grad, shape, torch)), (steps, grad, shape)
