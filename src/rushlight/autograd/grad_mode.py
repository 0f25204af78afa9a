"""Grad mode and inference mode, as contexts and as decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from .._base import errors
from .._core.mode import CURRENT, current, derive, ready, set_grad
from .._core.storage import TensorBase, version_cell, version_of
from .context_decorator import context_decorator

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations are being recorded.

    Returns: whether operations are recorded in this thread.
    Example:
        >>> torch.is_grad_enabled()
        True
    """
    return current().grad


# Note [Leaving a mode]
# A generator may be suspended inside a context and resumed elsewhere, so contexts need not end in
# the reverse of the order in which they began. Leaving one therefore puts back its own switch only,
# never the whole mode that was in force when it was entered.
#
# Note [A context that is interrupted]
# Ctrl-C raises KeyboardInterrupt between any two calls, also inside `__enter__` and `__exit__`. Of
# an `__enter__` that raises nobody calls the `__exit__`, so what is switched there is switched back
# there: first what was is noted, then all that may fail is done, then the switch is set where an
# exception sets it back. An `__exit__` that is interrupted sets its switch (to a value, so it may
# do so twice) before it goes on with the exception. What is left is the moment before the first
# instruction of `__exit__`, as in PyTorch; inference mode ends there with its object, as in
# PyTorch.


class _ModeContext:
    """A context that switches something; also a decorator of functions, generators and classes."""

    def __init__(self) -> None:
        self._before: list[Any] = []

    def _state(self) -> object:
        """What is switched on now, as `_restore` needs it."""
        raise NotImplementedError

    def _switch(self) -> None:
        """Switches."""
        raise NotImplementedError

    def _restore(self, before: Any) -> None:
        raise NotImplementedError

    def clone(self) -> _ModeContext:
        """A context like this one, not entered."""
        return type(self)()

    # See Note [A context that is interrupted].
    def __enter__(self) -> None:
        before = self._state()
        try:
            self._before.append(before)
            self._switch()
        except BaseException:
            self._restore(before)
            if self._before and self._before[-1] is before:
                self._before.pop()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            self._restore(self._before[-1])
        except BaseException:
            self._restore(self._before.pop())
            raise
        self._before.pop()

    def __call__(self, function: F) -> F:
        return context_decorator(self, function)


class _GradMode(_ModeContext):
    """`no_grad` or `enable_grad`: also a decorator without parentheses.

    As in PyTorch an object remembers one former mode: entered again inside itself, it ends with
    the mode that its second entry found.
    """

    wanted = False

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    @overload
    def __new__(cls, orig_func: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, orig_func: Callable[..., object] | None = None) -> Any:
        made = object.__new__(cls)
        if orig_func is None:
            return made
        made.__init__()  # type: ignore[misc]
        return context_decorator(made, orig_func)

    def __enter__(self) -> None:
        self.prev = ready().grad
        try:
            set_grad(self.wanted)
        except BaseException:
            set_grad(self.prev)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            set_grad(self.prev)
        except BaseException:
            set_grad(self.prev)
            raise


class no_grad(_GradMode):
    """A context (or decorator) in which operations are not recorded.

    Parameters:
        orig_func: a function to decorate, where it stands without brackets.
    Raises: nothing.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def __init__(self, orig_func: Callable[..., object] | None = None) -> None:
        super().__init__()
        self.prev = False


class enable_grad(_GradMode):
    """A context (or decorator) in which operations are recorded.

    Parameters:
        orig_func: a function to decorate, where it stands without brackets.
    Raises: nothing.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    wanted = True

    def __init__(self, orig_func: Callable[..., object] | None = None) -> None:
        super().__init__()


class set_grad_enabled(_ModeContext):
    """Switches recording on or off: at once as a function, until the end as a context.

    Raises:
        TypeError: where `mode` isn't a bool.

    Parameters:
        mode: whether operations are recorded.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.set_grad_enabled(False):
        ...     (x * 2).requires_grad
        False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.prev = is_grad_enabled()
        self.mode = mode
        if type(mode) is not bool:
            raise TypeError(errors.not_a_bool("set_grad_enabled", "enabled", mode))
        try:
            set_grad(mode)
        except BaseException:
            set_grad(self.prev)
            raise

    def __call__(self, function: F) -> F:
        set_grad(self.prev)
        return context_decorator(self, function)

    def __enter__(self) -> None:
        try:
            set_grad(self.mode)
        except BaseException:
            set_grad(self.prev)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            set_grad(self.prev)
        except BaseException:
            set_grad(self.prev)
            raise

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> set_grad_enabled:
        """A context like this one."""
        return set_grad_enabled(self.mode)


def _restore_mode(before: tuple[bool, bool, bool]) -> None:
    grad, forward, inference = before
    CURRENT.set(derive(ready(), grad=grad, forward_grad=forward, inference=inference))


class _Guard:
    """Ends inference mode with the object that began it, where nothing else has.

    Only where the very mode that was set then is still on, so never in another thread. Guards are
    used again: what Ctrl-C raises in `__del__` is lost, so as a rule none runs.
    """

    __slots__ = ("before", "made")

    def __init__(self) -> None:
        self.made: Any = None
        self.before = (True, True, False)

    def __del__(self) -> None:
        if self.made is not None and CURRENT.get() is self.made:
            _restore_mode(self.before)


_GUARDS: list[_Guard] = []


class inference_mode(_ModeContext):
    """A context (or decorator) in which nothing is recorded, and new tensors stay out of graphs.

    Such tensors count no writes, which makes small programs faster than under `no_grad`; they can't
    be saved for a backward later.

    Parameters:
        mode: whether it is on; or a function to decorate.
    Raises: nothing itself; RuntimeError later, where a tensor made inside is recorded.
    Example:
        >>> with torch.inference_mode():
        ...     x = torch.ones(2)
        >>> x.is_inference()
        True
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True) -> Any:
        made = object.__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__(True)  # type: ignore[misc]
        return context_decorator(made, mode)

    def __init__(self, mode: object = True) -> None:
        super().__init__()
        self.mode = bool(mode) if isinstance(mode, bool) else True
        self._guards: list[_Guard] = []

    def clone(self) -> inference_mode:
        """A context like this one."""
        return inference_mode(self.mode)

    def _state(self) -> tuple[bool, bool, bool]:
        before = ready()
        return before.grad, before.forward_grad, before.inference

    def _switch(self) -> None:
        off = not self.mode
        guard = _GUARDS.pop() if _GUARDS else _Guard()
        guard.before = self._state()
        self._guards.append(guard)
        guard.made = derive(ready(), grad=off, forward_grad=off, inference=self.mode)
        CURRENT.set(guard.made)

    def _restore(self, before: tuple[bool, bool, bool]) -> None:
        _restore_mode(before)
        if self._guards:
            guard = self._guards.pop()
            guard.made = None
            _GUARDS.append(guard)


class set_multithreading_enabled(_ModeContext):
    """Notes whether backward may use several threads: at once, or until the end as a context.

    Backward runs in the thread that calls it either way.

    Parameters:
        mode: what `is_multithreading_enabled` is to say.
    Raises: TypeError: for anything but True and False.
    Example:
        >>> with torch.autograd.set_multithreading_enabled(False):
        ...     torch.autograd.is_multithreading_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        errors.check_bool("set_multithreading_enabled", "enabled", mode)
        super().__init__()
        self.mode = mode
        self._own = ready().multithreaded
        try:
            self._switch()
        except BaseException:
            self._restore(self._own)
            raise

    def clone(self) -> set_multithreading_enabled:
        """A context like this one."""
        return set_multithreading_enabled(self.mode)

    def _state(self) -> bool:
        return self._own

    def _switch(self) -> None:
        CURRENT.set(derive(ready(), multithreaded=self.mode))

    def _restore(self, before: bool) -> None:
        CURRENT.set(derive(ready(), multithreaded=before))


class _force_original_view_tracking(_ModeContext):
    """Has views remember the operations that made them, which give the names of their nodes later.

    Views are otherwise told by their strides: after a write to the base, the node of each is that
    of one `as_strided`.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self.prev = ready().view_replay
        try:
            self._restore(mode)
        except BaseException:
            self._restore(self.prev)
            raise

    def clone(self) -> _force_original_view_tracking:
        """A context like this one."""
        return _force_original_view_tracking(self.mode)

    def _restore(self, before: bool) -> None:
        CURRENT.set(derive(ready(), view_replay=before))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        try:
            self._restore(self.prev)
        except BaseException:
            self._restore(self.prev)
            raise


class _unsafe_preserve_version_counter(_ModeContext):
    """Writes inside it leave the version of a tensor (or of several) as it was."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        super().__init__()
        self.tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
        self.prev_versions = tuple([version_of(t) for t in self.tensors])

    def clone(self) -> _unsafe_preserve_version_counter:
        """A context like this one, for the versions of now."""
        return _unsafe_preserve_version_counter(self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        try:
            self._restore(self.prev_versions)
        except BaseException:
            self._restore(self.prev_versions)
            raise

    def _restore(self, before: tuple[int, ...]) -> None:
        for t, version in zip(self.tensors, before):
            version_cell(t).n = version


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads.

    Returns: bool.
    Example:
        >>> torch.autograd.is_multithreading_enabled()
        True
    """
    return ready().multithreaded


def is_view_replay_enabled() -> bool:
    """Whether views remember the operations that made them."""
    return ready().view_replay


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on.

    Returns: bool.
    Example:
        >>> torch.is_inference_mode_enabled()
        False
    """
    return ready().inference


__all__ = [
    "_force_original_view_tracking", "_unsafe_preserve_version_counter",
    "enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_multithreading_enabled", "is_view_replay_enabled", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip
