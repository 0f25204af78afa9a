"""Forward mode: dual tensors, which carry a tangent along with their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._array import types as T
from .._base.lazy import list_names as _listed
from .._core.mode import CURRENT, Mode, derive, ready
from .._core.run import FORWARD, TRANSFORMS
from .._core.saved import TANGENTS
from .._core.storage import TensorBase
from .._table.modes import dual as rows
from . import pushforward as _pushforward  # noqa: F401 - says how operations carry tangents
from .duals import LEVELS, Level, begin_anew, set_tangent, tangent_of
from .grad_mode import _ModeContext

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

_current_level = -1  # the number of the innermost level, as programs may ask


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor.

    Parameters:
        primal: the value.
        tangent: the derivative along the direction; None where there is none.
    Raises: TypeError: where one is missing.
    Example:
        >>> import rushlight.autograd.forward_ad as fw
        >>> with fw.dual_level():
        ...     x = fw.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     fw.unpack_dual(x * x).tangent
        tensor(6.)
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begins a level of forward mode; returns its number.

    Raises:
        RuntimeError: inside another level.

    Returns: int: 0: there is one level at a time.
    Example:
        >>> import rushlight.autograd.forward_ad as fw
        >>> fw.enter_dual_level()
        0
        >>> fw.exit_dual_level()
    """
    global _current_level
    if LEVELS:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    try:  # see Note [A context that is interrupted] in `grad_mode`
        LEVELS.append(Level())
        _current_level = 0
        CURRENT.set(derive(ready(), dual=True))
    except BaseException:
        _end_all()
        raise
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends a level: all its tangents are gone.

    Raises:
        RuntimeError: where there is no level, or `level` isn't the current one.

    Parameters:
        level: its number; None: the current one.
    Example:
        >>> import rushlight.autograd.forward_ad as fw
        >>> level = fw.enter_dual_level()
        >>> fw.exit_dual_level(level=level)
    """
    current = len(LEVELS) - 1
    if level is None:
        level = current
    if level != current:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    try:
        _end_all()
    except BaseException:
        _end_all()
        raise


def _end_all() -> None:
    """Ends the level, of which there is one at most; may be done twice."""
    global _current_level
    for gone in LEVELS:
        gone.alive = False
        for node in gone.nodes:
            if node.meta is not None:
                node.meta.pop(TANGENTS, None)
    _current_level = -1
    CURRENT.set(derive(ready(), dual=False))
    LEVELS.clear()


class dual_level(_ModeContext):
    """A context, or a decorator, in which `make_dual` and `unpack_dual` work.

    Example:
        >>> import rushlight.autograd.forward_ad as fw
        >>> with fw.dual_level():
        ...     x = fw.make_dual(torch.tensor(0.0), torch.tensor(2.0))
        ...     fw.unpack_dual(x.sin()).tangent
        tensor(2.)
    """

    def __enter__(self) -> int:  # type: ignore[override]
        if LEVELS:
            return enter_dual_level()  # raises
        try:
            return enter_dual_level()
        except BaseException:
            _end_all()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            exit_dual_level()
        except BaseException:
            _end_all()
            raise


def _batches() -> Any:
    """The module of what `vmap` maps over, which programs without it never load."""
    from .._tensor import batching

    return batching


def make_dual(tensor: Tensor, tangent: Any, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that carries `tangent`.

    Raises:
        RuntimeError: outside a level; for a tangent of another size; where there is a tangent
            already.
        ValueError: for element types without derivatives.

    Parameters:
        tensor: the value.
        tangent: its derivative.
        level: the level; the innermost by default.
    Shapes: the tangent as the tensor.
    Returns: a tensor that carries both.
    Example:
        >>> fwAD = torch.autograd.forward_ad
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     print(fwAD.unpack_dual(x**2).tangent)
        tensor(6.)
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    if level > 0:
        raise RuntimeError("Invalid level given to _make_dual")
    if not LEVELS:
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not "
            "created or is already deleted."
        )
    if tensor._layered and isinstance(tensor, (batches := _batches()).BatchedTensor):
        expand_over = batches.expand_over
        layers = batches.layers_of([tensor])
        whole = make_dual(expand_over(tensor, layers), expand_over(tangent, layers), level=level)
        return batches.gather_layers(whole, layers)
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {level} is not supported."
        )
    alike = tangent._raw.shape == tensor._raw.shape and not tangent._layered
    if alike and T.is_part(tensor._raw):
        tangent = _place_alike(tangent, tensor)
    dual = rows.MAKE(tensor)
    begin_anew(dual)
    set_tangent(dual, tangent)
    return dual


def _place_alike(tangent: Any, tensor: Tensor) -> object:
    """The tangent in a memory of zeros, at the place that the tensor has in its own.

    So a window over the memory beyond the tensor (`as_strided`) has a tangent of zeros there.
    """
    count = T.owner(tensor._raw).nbytes // tensor.element_size()
    memory = tangent.new_zeros(count)
    place = memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return place.copy_(tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The elements and the tangent of a dual tensor; the tangent is None where there is none.

    Raises:
        TypeError: for something that isn't a tensor.

    Parameters:
        tensor: a tensor that may carry a tangent.
        level: the level; the innermost by default.
    Shapes: both as the tensor.
    Returns: (primal, tangent), the tangent None where there is none.
    Example:
        >>> fwAD = torch.autograd.forward_ad
        >>> with fwAD.dual_level():
        ...     print(fwAD.unpack_dual(torch.ones(1)).tangent)
        None
    """
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, TensorBase):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    if tensor._layered and isinstance(tensor, (batches := _batches()).BatchedTensor):
        layers = batches.layers_of([tensor])
        parts = unpack_dual(batches.expand_over(tensor, layers), level=level)
        found = (None if p is None else batches.gather_layers(p, layers) for p in parts)
        return UnpackedDualTensor._make(found)
    mode = ready()
    tangent = tangent_of(tensor) if mode.forward_grad and not level else None
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(mode, forward_grad=False))
        primal = rows.UNPACK(tensor)
        begin_anew(primal)
    finally:
        CURRENT.set(former_mode)
    return UnpackedDualTensor(primal, tangent)


def _recording_with(forward_grad: bool, former: Mode) -> bool:
    """Whether operations are recorded while forward mode is on or off.

    `func.jvp` and its like go forward by what is recorded: without forward mode, nothing is.

    Raises:
        NotImplementedError: where a gradient needs what forward mode must not see.
    """
    count = FORWARD.get()
    if not count or forward_grad is former.forward_grad:
        return bool(former.grad)
    if forward_grad:
        return True
    if count < TRANSFORMS.get():
        raise NotImplementedError(
            "_set_fwd_grad_enabled: Rushlight can't switch forward mode off alone where func.jvp "
            "(or jacfwd, linearize, hessian) and func.grad (or vjp, jacrev) nest"
        )
    return False


class _set_fwd_grad_enabled(_ModeContext):
    """Switches forward mode on or off, at once; as a context, until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        former = ready()
        self.prev = former.forward_grad
        self.grad = former.grad
        try:
            self._set_both(mode, _recording_with(mode, former))
        except BaseException:
            self._set_both(self.prev, self.grad)
            raise

    def _set_both(self, before: bool, grad: bool) -> None:
        CURRENT.set(derive(ready(), forward_grad=before, grad=grad))

    def _restore(self, before: bool) -> None:
        self._set_both(before, ready().grad)

    def clone(self) -> _set_fwd_grad_enabled:
        """A context like this one."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        try:
            self._leave()
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        inside = FORWARD.get() > 0
        self._set_both(self.prev, self.grad if inside else ready().grad)


def _is_fwd_grad_enabled() -> bool:
    """Whether operations carry tangents."""
    return ready().forward_grad


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]  # fmt: skip

__dir__ = _listed(globals())
