"""Dimensions in another order: transposed, permuted, moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.axes import axis_of
from ..._array.shape import views as raw
from ..._core.apply import apply_view
from ..calls.argument_parser import is_integer
from ..calls.conversions import integers
from ..rows.composite import METHODS, composite
from ..rows.row import linear
from .shape import alias

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor


# ---- orders -----------------------------------------------------------------------------------
transpose = linear(
    "transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    raw.transpose,
    self=lambda xp, g, dim0, dim1: xp.transpose(g, dim0, dim1),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4), 0, 1), (mk(2, 3, 4), -1, 0)],
    doc="The tensor with two dimensions exchanged.",
)
t = linear(
    "t(Tensor(a) self) -> Tensor(a)",
    raw.t,
    self=lambda xp, g: xp.t(g),
    holomorphic=False,
    samples=lambda mk: [(mk(3, 4),), (mk(3),), (mk(),)],
    doc="The transpose of a matrix; vectors and numbers as they are.",
)


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    n = len(dims)
    found = [0] * n
    for place, d in enumerate(dims):
        found[d % n] = place
    return tuple(found)


permute = linear(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    raw.permute,
    self=lambda xp, g, dims: xp.permute(g, _inverse(dims)),
    holomorphic=False,
    samples=lambda mk: [(mk(2, 3, 4), (2, 0, 1)), (mk(2, 3), (-1, 0)), (mk(), ())],
    doc="The tensor with its dimensions in another order.",
)


@composite("", method=True)
def movedim(input: Tensor, source: Tensor | Shape | int, destination: Shape | int) -> Tensor:
    """The tensor with dimensions moved to other places; the others keep their order."""
    ndim = input._raw.ndim
    usual = type(source) is int and type(destination) is int
    if usual and -ndim <= source < ndim and -ndim <= destination < ndim:
        order = list(range(ndim))
        order.insert(destination % ndim, order.pop(source))  # type: ignore
        return apply_view(permute.op, input, (tuple(order),))
    given = integers((source,) if is_integer(source) else source)
    wanted = integers((destination,) if is_integer(destination) else destination)
    if len(given) != len(wanted):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(given)} dims) should "
            "contain the "
            f"same number of dims as destination ({list(wanted)} dims)"
        )
    before = [axis_of(d, ndim) for d in given]
    after = [axis_of(d, ndim) for d in wanted]
    for found, shown, word in ((before, given, "source"), (after, wanted, "destination")):
        if len(set(found)) != len(found):
            raise RuntimeError(f"movedim: repeated dim in `{word}` ({list(shown)})")
    if not ndim:
        return apply_view(alias.op, input, ())
    order = [-1] * ndim
    for b, a in zip(before, after):
        order[a] = b
    rest = iter([d for d in range(ndim) if d not in before])
    return apply_view(permute.op, input, (tuple([next(rest) if d < 0 else d for d in order]),))


composite("", method=True, name="moveaxis")(movedim)


@composite("", "private", method=True)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """The tensor with two dimensions exchanged."""
    return apply_view(transpose.op, input, (axis0, axis1))


@composite("", method=True)
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """The tensor with two dimensions exchanged."""
    return apply_view(transpose.op, input, (dim0, dim1))


def _conjugate(t_: Tensor) -> Tensor:
    from ..rows.tensor_namespace import table

    return table("conj")(t_) if t_._raw.dtype.kind == "c" else t_


@composite("", method=True)
def adjoint(input: Any) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    return _matrix(input, "mH", "adjoint()")


def _matrix(input: Tensor, name: str, function: str = "") -> Tensor:
    ndim = input._raw.ndim
    if ndim == 0:
        _warn_zero_dim(function if function else f"Tensor.{name}", name)
        return _conjugate(input) if name != "mT" else input
    if ndim == 1:
        raise RuntimeError(
            f"tensor.{function or name} is only supported on matrices or batches of matrices. Got "
            "1-D tensor."
        )
    turned = apply_view(transpose.op, input, (-2, -1))
    return _conjugate(turned) if name == "mH" else turned


def _mT(self: Tensor) -> Tensor:
    """The transpose of the last two dimensions.

    Example:
        >>> torch.ones(5, 2, 3).mT.shape
        torch.Size([5, 3, 2])
    """
    return _matrix(self, "mT")


def _mH(self: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions.

    Example:
        >>> torch.tensor([[1j, 2.0]]).mH
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    return _matrix(self, "mH")


def _H(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    Example:
        >>> torch.tensor([[1j, 2.0]]).H
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    ndim = self._raw.ndim
    if ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (more if ndim > 2 else "")
        )
    if ndim == 0:
        _warn_zero_dim("Tensor.H", "H")
        return _conjugate(self)
    return _matrix(self, "mH")


def _warn_zero_dim(what: str, name: str) -> None:
    import warnings

    instead = (
        "This function is the identity in these cases."
        if name in ("mT", "T")
        else "Consider using x.conj()."
    )
    line = {"T": 4321, "mT": 4373, "H": 4335}.get(name, 4390 if what == "adjoint()" else 4382)
    warnings.warn(
        f"{what} is deprecated on 0-D tensors. {instead} (Triggered internally at "
        f"/__w/pytorch/pytorch/aten/src/ATen/native/TensorShape.cpp:{line}.)",
        UserWarning,
        stacklevel=4,
    )


def _T(self: Tensor) -> Tensor:
    """The tensor with its dimensions in reverse order.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]).T
        tensor([[1, 3],
                [2, 4]])
    """
    ndim = self._raw.ndim
    if ndim == 0:
        _warn_zero_dim("Tensor.T", "T")
    elif ndim != 2:
        import warnings

        warnings.warn(_T_WARNING, UserWarning, stacklevel=2)
    return apply_view(permute.op, self, (tuple(range(ndim - 1, -1, -1)),))


_T_WARNING = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
    "and it will "
    "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
    "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)
METHODS.update({"T": property(_T), "mT": property(_mT), "H": property(_H), "mH": property(_mH)})
