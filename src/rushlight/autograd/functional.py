"""Products with, and entries of, the Jacobian and the Hessian of a function of tensors.

All of them work on fresh views of the inputs, so that only what `func` does to them counts. Without
`create_graph` the results carry no history. With `strict` an output that doesn't depend on an input
is an error instead of a zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from .._base.lazy import list_names as _listed
from .._core.engine import WORLDS
from .._core.storage import TensorBase, new_tensor
from .._table import PUBLIC
from .._tensor.batching import Batching, unwrap, wrap
from .._tensor.tensor import zeros_of
from . import forward_ad
from ._functional_parts import (
    detach_results as _grad_postprocess,  # noqa: F401
    gradient as _autograd_grad,  # noqa: F401
    standard_basis as _construct_standard_basis_for,  # noqa: F401
    unpack as _tuple_postprocess,  # noqa: F401
)
from .backward import grad
from .functional_checks import (
    CONSTANT,
    check_v as _check_v,
    fill as _fill,
    need_history as _need_history,
    only_without_v as _only_without_v,
    require_recorded as _require_recorded,
    single as _single,
    tuple_of as _tuple_of,
)
from .grad_mode import enable_grad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor

Tensors = tuple[Any, ...]


def _fresh(inputs: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """Views of the inputs with a history of their own."""
    made: list[Any] = []
    for x in inputs:
        if create_graph and x.requires_grad:
            made.append(x.view(x._raw.shape))
        else:
            made.append(x.detach().requires_grad_(need_graph))
    return tuple(made)


def _as_tuple(inp: object, arg_name: str | None = None, fn_name: str | None = None) -> Tensors:
    """The tensors as a tuple; packages call it by PyTorch's private name."""
    if arg_name is None and fn_name is None:
        return tuple(inp) if isinstance(inp, (tuple, list)) else (inp,)
    is_tuple, group = _tuple_of(inp, str(arg_name), str(fn_name))
    return (is_tuple, group)


_grad_preprocess = _fresh


def _detach_results(values: Tensors, create_graph: bool) -> Tensors:
    """Results as they are returned: without history unless it is asked for.

    Raises:
        IndexError: where there is none, as in PyTorch.
    """
    values[0]
    return values if create_graph else tuple(v.detach() for v in values)


def _pack(values: Tensors, is_tuple: bool) -> Tensor | Sequence[Tensor]:
    return values if is_tuple else values[0]


def _gradient(outputs: Tensors, inputs: Tensors, seeds: Any, create_graph: bool,
              keep: bool | None = None) -> Tensors:  # fmt: skip
    """Like `grad`, with None for everything unreached, outputs without history included."""
    if seeds is None:
        seeds = (None,) * len(outputs)
    pairs = [(o, s) for o, s in zip(outputs, seeds) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [o for o, _ in pairs], list(inputs), [s for _, s in pairs], retain_graph=keep,
        create_graph=create_graph, allow_unused=True,
    )  # fmt: skip


_fill_in_zeros = _fill


def vjp(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and vᵀ J for its Jacobian J at `inputs`.

    Raises:
        RuntimeError: where `v` doesn't fit the outputs; where `strict` finds an independence.
        TypeError: where inputs or outputs aren't tensors.

    Parameters:
        func: a function of tensors that gives a tensor, or a tuple of them.
        inputs: the arguments, one tensor or a tuple.
        v: the vector, as the outputs; not needed for a single element.
        create_graph: whether the results can be differentiated again.
        strict: whether an output that doesn't depend on an input is refused.
    Shapes: `v` has the outputs', the product the inputs'.
    Returns: (outputs, product).
    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vjp(lambda x: x**2, x, torch.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        is_tuple, group = _tuple_of(inputs, "inputs", "vjp")
        group = _fresh(group, create_graph)
        result = func(*group)
        out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", "vjp")
        _need_history(outputs, strict)
        if v is not None:
            _, v = _tuple_of(v, "v", "vjp")
            v = _fresh(v, create_graph, False)
            _check_v(v, outputs, out_tuple)
        else:
            _only_without_v(outputs, "output")
        found = _gradient(outputs, group, v, create_graph)
        found = _fill(found, group, strict, create_graph, "back")
    return (
        _pack(_detach_results(outputs, create_graph), out_tuple),
        _pack(_detach_results(found, create_graph), is_tuple),
    )


def jvp(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and J v for its Jacobian J at `inputs`.

    By two backward passes: J v is the derivative of uᵀ J by u, in the direction v.

    Raises:
        RuntimeError: where `v` doesn't fit the inputs; where `strict` finds an independence.
        TypeError: where inputs or outputs aren't tensors.

    Parameters:
        func: a function of tensors that gives a tensor, or a tuple of them.
        inputs: the arguments, one tensor or a tuple.
        v: the direction, as the inputs; not needed for a single element.
        create_graph: whether the results can be differentiated again.
        strict: whether an output that doesn't depend on an input is refused.
    Shapes: `v` has the inputs', the product the outputs'.
    Returns: (outputs, product).
    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.jvp(lambda x: x**2, x, torch.tensor([1.0, 0.0]))
        (tensor([1., 4.]), tensor([2., 0.]))
    """
    with enable_grad():
        is_tuple, group = _tuple_of(inputs, "inputs", "jvp")
        group = _fresh(group, create_graph)
        if v is not None:
            _, v = _tuple_of(v, "v", "jvp")
            v = _fresh(v, create_graph, False)
            _check_v(v, group, is_tuple)
        else:
            _only_without_v(group, "input")
        result = func(*group)
        out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", "jvp")
        _need_history(outputs, strict)
        seeds = _zeros_with_history(outputs)
        pulled = _gradient(outputs, group, seeds, True)
        _require_recorded(pulled, "grad_inputs", strict)
        found = _gradient(pulled, seeds, v, create_graph)
        found = _fill(found, outputs, strict, create_graph, "back_trick")
    return (
        _pack(_detach_results(outputs, create_graph), out_tuple),
        _pack(_detach_results(found, create_graph), out_tuple),
    )


def _zeros_with_history(like: Tensors) -> Tensors:
    made = []
    for x in like:
        u = zeros_of(x)
        u._requires_grad = True
        made.append(u)
    return tuple(made)


@overload
def jacobian(
    func: Callable[[Tensor], Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def jacobian(
    func: AnyCallable,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any: ...
def jacobian(
    func: AnyCallable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> object:
    """The Jacobian of `func`, of each output by each input; shapes: the output's, then the input's.

    With `vectorize` all rows are computed by one batched backward.

    Raises:
        RuntimeError: where `strict` finds an independence.
        TypeError: where inputs or outputs aren't tensors.

    Parameters:
        func: a function of tensors.
        inputs: the arguments, one tensor or a tuple.
        create_graph: whether the result can be differentiated again.
        strict: whether a result that doesn't depend on an input is refused.
        vectorize: whether all rows are computed at once.
        strategy: "reverse-mode" or "forward-mode", which needs `vectorize`.
    Returns: the Jacobian: a tensor, or tuples of them for several inputs or results.
    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            "function has "
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
            "prefer to "
            'use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                "torch.autograd.functional.jacobian: `create_graph=True` and "
                '`strategy="forward-mode"` are not supported together (yet). Please either set '
                '`create_graph=False` or `strategy="reverse-mode"`.'
            )
        if strict:
            raise RuntimeError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` '
                "are not "
                "supported together (yet). Please either set `strict=False` or "
                '`strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
                "only implemented for `vectorize=True`."
            )
        return _jacobian_forward(func, inputs)
    with enable_grad():
        is_tuple, group = _tuple_of(inputs, "inputs", "jacobian")
        group = _fresh(group, create_graph)
        result = func(*group)
        out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", "jacobian")
        _need_history(outputs, strict)
        if vectorize:
            if strict:
                raise RuntimeError(
                    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are "
                    "not supported together. Please either set `strict=False` or "
                    "`vectorize=False`."
                )
            blocks = _all_rows(outputs, group, create_graph)
            return _grid(
                tuple(_detach_results(block, create_graph) for block in blocks), out_tuple, is_tuple
            )
        blocks = []
        for i, out in enumerate(outputs):
            rows: list[list[Any]] = [[] for _ in group]
            flat = out.reshape(-1)
            for k in range(out._raw.size):
                found = _gradient((flat[k],), group, None, create_graph, True)
                for j, (g, x) in enumerate(zip(found, group)):
                    rows[j].append(_row(g, x, strict, create_graph, i, j))
            blocks.append(tuple(_stack(r, out, x) for r, x in zip(rows, group)))
        if not blocks:
            raise IndexError("tuple index out of range")
        settled = tuple(_detach_results(block, create_graph) for block in blocks)
    return _grid(settled, out_tuple, is_tuple)


def _row(
    g: Tensor | None, x: Tensor, strict: bool, create_graph: bool, i: int, j: int
) -> TensorBase:
    if g is None:
        if strict:
            raise RuntimeError(
                f"Output {i} of the user-provided function is independent of input {j}. This is "
                "not "
                "allowed in strict mode."
            )
        return zeros_of(x)
    if strict and create_graph and not g.requires_grad:
        raise RuntimeError(CONSTANT.format(what="jacobian", i=i))
    return g


def _stack(rows: list[Tensor], out: Tensor, x: Tensor) -> Tensor:
    return PUBLIC[("", "stack")](rows).view((*out._raw.shape, *x._raw.shape))


def _all_rows(outputs: Tensors, group: Tensors, create_graph: bool) -> list[Tensors]:
    """The Jacobian's blocks by one batched backward: a unit vector for each output element."""
    sizes = [o._raw.size for o in outputs]
    total = sum(sizes)
    if not total and any(x._raw.size for x in group):
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    flat, seeds, start = [], [], 0
    for o, size in zip(outputs, sizes):
        unit = WORLDS.raw.zeros((total, size), o._raw.dtype)
        unit[range(start, start + size), range(size)] = 1
        start += size
        flat.append(o.reshape(-1))
        seeds.append(new_tensor(unit))
    live = [k for k, o in enumerate(flat) if o.requires_grad]
    found: Tensors = (None,) * len(group)
    if live and total:
        found = grad(
            [flat[k] for k in live], list(group), [seeds[k] for k in live],
            create_graph=create_graph, allow_unused=True, is_grads_batched=True,
        )  # fmt: skip
    whole: list[Any] = [
        new_tensor(WORLDS.raw.zeros((total, *x._raw.shape), x._raw.dtype)) if g is None else g
        for g, x in zip(found, group)
    ]
    blocks: list[Tensors] = []
    start = 0
    for o, size in zip(outputs, sizes):
        blocks.append(
            tuple(
                g[start : start + size].view((*o._raw.shape, *x._raw.shape))
                for g, x in zip(whole, group)
            )
        )
        start += size
    return blocks


def _grid(blocks: Any, out_tuple: bool, in_tuple: bool) -> object:
    """Blocks by output and input, without the sequences that the user doesn't expect."""
    rows = blocks if in_tuple else tuple(block[0] for block in blocks)
    return rows if out_tuple else rows[0]


def _jacobian_forward(func: Callable[..., object], inputs: tuple[Tensor, ...]) -> object:
    """The Jacobian by one run on dual tensors, whose tangents are batches of unit vectors.

    Several inputs or outputs come as lists, as in PyTorch.
    """
    is_tuple, group = _tuple_of(inputs, "inputs", "jacobian")
    sizes = [int(x._raw.size) for x in group]
    total = sum(sizes)
    with Batching(total, "unsupported") as layer, forward_ad.dual_level():
        duals = []
        start = 0
        for x, size in zip(group, sizes):
            unit = WORLDS.raw.zeros((total, size), x._raw.dtype)
            unit[range(start, start + size), range(size)] = 1
            start += size
            whole = new_tensor(unit.reshape((total, *x._raw.shape)))
            duals.append(forward_ad.make_dual(x, wrap(whole, 0, layer)))
        result = func(*duals)
        out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", "jacobian")
        columns = []
        for o in outputs:
            part = forward_ad.unpack_dual(o)
            tangent = part.tangent
            if tangent is None:
                tangent = zeros_of(part.primal)
            columns.append(PUBLIC[("", "movedim")](unwrap(tangent, layer), 0, -1))
    split = PUBLIC[("", "split")]
    blocks = [
        [p.reshape((*c._raw.shape[:-1], *x._raw.shape)) for p, x in zip(split(c, sizes, -1), group)]
        for c in columns
    ]
    return _grid(blocks, out_tuple, is_tuple)


def hessian(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function: for each pair of inputs, a tensor of both shapes.

    Raises:
        RuntimeError: where the output isn't a single element; where `strict` finds an independence.

    Parameters:
        func: a function of tensors that gives a single element.
        inputs: the arguments, one tensor or a tuple.
        create_graph: whether the result can be differentiated again.
        strict: whether an output that doesn't depend on an input is refused.
        vectorize: whether all rows are computed at once.
        outer_jacobian_strategy: how the gradient is differentiated: "reverse-mode", or
            "forward-mode", which needs `vectorize`.
    Shapes: inputs of shape s and t give s + t.
    Returns: Tensor, or a tuple of tuples of them for a tuple of inputs.
    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    is_tuple, group = _tuple_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*values: Tensor) -> Tensor:
        result = func(*values)
        out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", "hessian")
        _need_history(outputs, strict)
        _single(outputs, out_tuple, "hessian")
        return outputs[0].squeeze()

    def first(*values: Tensor) -> tuple[Tensor, ...]:
        if outer_jacobian_strategy == "forward-mode":
            values = tuple(v.requires_grad_() for v in values)
        found = jacobian(scalar, values, create_graph=True)
        _require_recorded(found, "jacobian", strict)
        return found

    blocks = jacobian(first, group, create_graph, strict, vectorize, outer_jacobian_strategy)
    return _grid(blocks, is_tuple, is_tuple)


def vhp(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a scalar function, and vᵀ H for its Hessian H at `inputs`.

    Raises:
        RuntimeError: where `v` doesn't fit the inputs or the output isn't a single element.

    Parameters:
        func: a function of tensors that gives a single element.
        inputs: the arguments, one tensor or a tuple.
        v: the vector, as the inputs; not needed for a single element.
        create_graph: whether the results can be differentiated again.
        strict: whether an output that doesn't depend on an input is refused.
    Shapes: `v` and the product have the inputs'.
    Returns: (value, product).
    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        is_tuple, group = _tuple_of(inputs, "inputs", "vhp")
        group = _fresh(group, create_graph)
        v = _direction(v, group, is_tuple, create_graph, "vhp")
        outputs, first = _first(func, group, strict, "vhp")
        found = _gradient(first, group, v, create_graph)
        found = _fill(found, group, strict, create_graph, "double_back")
    return _detach_results(outputs, create_graph)[0], _pack(
        _detach_results(found, create_graph), is_tuple
    )


def hvp(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of a scalar function, and H v for its Hessian H at `inputs`.

    Raises:
        RuntimeError: where `v` doesn't fit the inputs or the output isn't a single element.

    Parameters:
        func: a function of tensors that gives a single element.
        inputs: the arguments, one tensor or a tuple.
        v: the vector, as the inputs; not needed for a single element.
        create_graph: whether the results can be differentiated again.
        strict: whether an output that doesn't depend on an input is refused.
    Shapes: `v` and the product have the inputs'.
    Returns: (value, product): `vhp` gives the same in less time, as H is symmetric.
    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        is_tuple, group = _tuple_of(inputs, "inputs", "hvp")
        group = _fresh(group, create_graph)
        v = _direction(v, group, is_tuple, create_graph, "hvp")
        outputs, first = _first(func, group, strict, "hvp")
        seeds = _zeros_with_history(group)
        second = _gradient(first, group, seeds, True)
        _require_recorded(second, "hessian", strict)
        found = _gradient(second, seeds, v, create_graph)
        found = _fill(found, group, strict, create_graph, "double_back_trick")
    return _detach_results(outputs, create_graph)[0], _pack(
        _detach_results(found, create_graph), is_tuple
    )


def _direction(v: Any, group: Tensors, is_tuple: bool, create_graph: bool, caller: str) -> Any:
    if v is None:
        _only_without_v(group, "input")
        return None
    _, v = _tuple_of(v, "v", caller)
    v = _fresh(v, create_graph, False)
    _check_v(v, group, is_tuple)
    return v


def _first(
    func: Callable[..., object], group: Tensors, strict: bool, caller: str
) -> tuple[Tensors, Tensors]:
    """The output of a scalar function and its gradient, with history."""
    result = func(*group)
    out_tuple, outputs = _tuple_of(result, "outputs of the user-provided function", caller)
    _single(outputs, out_tuple, caller)
    _need_history(outputs, strict)
    first = _gradient(outputs, group, None, True)
    _require_recorded(first, "jacobian", strict)
    return outputs, first


__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]

__dir__ = _listed(globals())
