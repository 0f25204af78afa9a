"""`opcheck`: whether a registered operator does what its registration says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.elementwise.comparison import equal_arrays
from ..._core.storage import TensorBase
from ...autograd.grad_mode import no_grad
from .registration import fake_of, overload_of

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._table.names.registered_operators import RegisteredOverload
    from ..._tensor.tensor import Tensor

_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor",
          "test_aot_dispatch_dynamic")  # fmt: skip


def _same(a: Array, b: Array) -> bool:
    return equal_arrays(a, b)


class OpCheckError(Exception):
    """An operator doesn't do what its registration says."""


def _tensors(value: Tensor) -> list[Any]:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return [t for t in items if isinstance(t, TensorBase)]


def _copies(args: list[Tensor]) -> list[Any]:
    found: list[Any] = []
    for value in args:
        if isinstance(value, (list, tuple)) and _tensors(value):
            found.append([v.detach().clone() for v in value])
        elif isinstance(value, TensorBase):
            t: Any = value
            found.append(t.detach().clone().requires_grad_(t.requires_grad))
        else:
            found.append(value)
    return found


def _check_schema(op: RegisteredOverload, values: list[Any]) -> None:
    given = _copies(values)
    with no_grad():
        result = op.run(op, given)
    for p, before, after in zip(op._schema.arguments, values, given):
        for a, b in zip(_tensors(before), _tensors(after)):
            if "!" not in p.alias and not _same(a._raw, b._raw):
                raise OpCheckError(f"Argument {p.name} is not defined as mutable but was mutated")
    places = {T.address(T.owner(t._raw)) for v in given for t in _tensors(v) if t._raw.size}
    for t in _tensors(result):
        if t._raw.size and T.address(T.owner(t._raw)) in places:
            raise OpCheckError("Argument is not defined to alias output but was aliasing")


def _check_fake(op: Any, values: list[Any]) -> None:
    fake = fake_of(op)
    with no_grad():
        real = op.run(op, _copies(values))
        if fake is None:
            if "CompositeImplicitAutograd" in op.kernels:
                return
            raise OpCheckError(f"{op}: no fake implementation was registered")
        faked = fake(*_copies(values))
    for a, b in zip(_tensors(real), _tensors(faked)):
        if a._raw.shape != b._raw.shape or a._raw.dtype != b._raw.dtype:
            raise OpCheckError(
                f"{op}: the fake implementation tells shape {tuple(b._raw.shape)} and "
                f"{b._raw.dtype}, but the result has {tuple(a._raw.shape)} and {a._raw.dtype}"
            )


def _check_gradient(op: Any, values: list[Any]) -> None:
    """That two backward runs give the same gradients."""
    found = []
    for _ in range(2):
        given = _copies(values)
        leaves = [t for v in given for t in _tensors(v) if t.requires_grad]
        if not leaves:
            return
        outs = [o for o in _tensors(op.run(op, given)) if o.requires_grad]
        if not outs:
            return
        total: Any = outs[0].sum()
        for o in outs[1:]:
            total = total + o.sum()
        total.backward()
        found.append([t.grad for t in leaves])
    for a, b in zip(*found):
        if (a is None) != (b is None) or (a is not None and not _same(a._raw, b._raw)):
            raise OpCheckError(f"{op}: two backward runs give different gradients")


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, str]:
    """Tests an operator on example arguments: by test "SUCCESS", or the error.

    The tests: the schema holds, results are what the fake tells, backward gives the same twice.

    Parameters:
        op: what `custom_op` gave, `torch.ops.namespace.name`, an overload of it, or its name.
        args: its arguments.
        kwargs: its arguments by name.
        test_utils: the names of tests: "test_schema", "test_autograd_registration",
            "test_faketensor", "test_aot_dispatch_static" and "test_aot_dispatch_dynamic".
        raise_exception: whether the first failure is raised, not written down.
        atol, rtol: nothing here: both runs have to give the same bits.
    Returns: a dictionary from names of tests to what they found.
    Raises:
        OpCheckError: for a test that fails, unless `raise_exception=False`.
        ValueError: for a test that there isn't.
        RuntimeError: for an operator that there isn't.
    Example:
        >>> @torch.library.custom_op("help_of_opcheck::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> torch.library.opcheck(twice, (torch.ones(2),), test_utils="test_schema")
        {'test_schema': 'SUCCESS'}
    """
    target = overload_of(op)
    values = target.values(args, kwargs or {})
    tests = {
        "test_schema": _check_schema, "test_autograd_registration": _check_gradient,
        "test_faketensor": _check_fake, "test_aot_dispatch_static": _check_gradient,
        "test_aot_dispatch_dynamic": _check_gradient,
    }  # fmt: skip
    results: dict[str, str] = {}
    for name in (test_utils,) if isinstance(test_utils, str) else test_utils:
        if name not in tests:
            raise ValueError(f"opcheck(op, ..., test_utils={name}): unknown test")
        try:
            tests[name](target, values)
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            results[name] = str(error)
        else:
            results[name] = "SUCCESS"
    return results
