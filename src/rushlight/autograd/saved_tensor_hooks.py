"""What becomes of saved tensors: hooks that pack and unpack them, copies, files on disk."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._array.memory import disk
from .._base import errors
from .._core.mode import CURRENT, derive, ready
from .._core.storage import new_tensor, version_cell
from .._table.rows.node_classes import SavedTensor

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._core.storage import TensorBase
    from .._tensor.tensor import Tensor


class saved_tensors_hooks:
    """A context in which saved tensors go through `pack_hook`, and back through `unpack_hook`.

    The hooks see the tensors in the order in which they are saved and, backward, in the order in
    which formulas read them. The innermost context counts. A pack hook must not write to its
    argument.

    Parameters:
        pack_hook: a function of the tensor that is saved; what it gives is kept instead.
        unpack_hook: a function of what was kept; it gives a tensor with the same elements.
    Raises: TypeError: on entering, for hooks that can't be called. RuntimeError: on entering,
        inside of `disable_saved_tensors_hooks`.
    Example:
        >>> kept = []
        >>> def pack(x):
        ...     kept.append(x)
        ...     return len(kept) - 1
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(pack, kept.__getitem__):
        ...     y = x * x
        >>> y.backward()
        >>> len(kept), x.grad
        (2, tensor([6.]))
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[Any], Any]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        mode = ready()
        if mode.saved_hooks_off:
            raise RuntimeError(mode.saved_hooks_off)
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError(f"{errors.PUSH_HOOKS}{self.pack_hook!r}, {self.unpack_hook!r}")
        pair = (self.pack_hook, self.unpack_hook)
        try:  # see Note [A context that is interrupted] in `grad_mode`
            CURRENT.set(derive(mode, saved_hooks=(*mode.saved_hooks, pair)))
        except BaseException:
            CURRENT.set(mode)
            raise

    def __exit__(self, *exc: object) -> None:
        fewer: tuple[Any, ...] | None = None
        try:
            fewer = ready().saved_hooks[:-1]
            CURRENT.set(derive(ready(), saved_hooks=fewer))
        except BaseException:
            if fewer is None:
                fewer = ready().saved_hooks[:-1]
            CURRENT.set(derive(ready(), saved_hooks=fewer))
            raise


class disable_saved_tensors_hooks:
    """A context in which saved-tensor hooks can't be used: trying to raises `error_message`.

    Parameters:
        error_message: the text of the error.
    Raises: RuntimeError: on entering, inside of a context with hooks. TypeError: on entering, for
        anything but a text.
    Example:
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with torch.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
        ...
        RuntimeError: not here
    """

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self.before = ""

    def __enter__(self) -> None:
        if not isinstance(self.error_message, str):
            raise TypeError(
                "_saved_tensors_hooks_disable(): incompatible function arguments. The following "
                "argument types are supported:\n    1. (error_message: str, fail_if_non_empty: "
                f"bool = True) -> None\n\nInvoked with: {self.error_message!r}"
            )
        mode = ready()
        if mode.saved_hooks:
            raise RuntimeError(self.error_message)
        self.before = mode.saved_hooks_off
        try:
            CURRENT.set(derive(mode, saved_hooks_off=self.error_message))
        except BaseException:
            CURRENT.set(mode)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(derive(ready(), saved_hooks_off=self.before))
        except BaseException:
            CURRENT.set(derive(ready(), saved_hooks_off=self.before))
            raise

    def __call__(self, function: Callable[..., object]) -> Callable[..., object]:
        """`function` made to run inside this context."""

        def run(*args: object, **kwargs: object) -> object:
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return run


class save_on_cpu(saved_tensors_hooks):
    """A context that keeps saved tensors in main memory, where they are anyway.

    `pin_memory` makes a copy, as PyTorch does: later writes to the original don't matter then.

    Parameters:
        pin_memory: whether a copy is made.
        device_type: the kind of device the memory is pinned for; nothing here.
    Raises: RuntimeError: on entering, inside of `disable_saved_tensors_hooks`.
    Example:
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = x * x
        >>> y.backward()
        >>> x.grad
        tensor([6.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> object:
            return (t.device, new_tensor(T.copy_like(t._raw, t._raw) if pin_memory else t._raw))

        super().__init__(pack, lambda packed: packed[1])
        self.pin_memory = pin_memory
        self.device_type = device_type


class _Handle:
    """Stands for a saved tensor in what `allow_mutation_on_saved_tensors` packs."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` knows: what was saved, and what was then cloned.

    Both tables are by handle and hold it weakly: a saved tensor goes with the graph.
    """

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        # By the identity of the version cell, which all tensors over the same memory share: the
        # cell (so that no other takes its identity) and the handles of what was saved of it.
        self._by_memory: dict[int, tuple[Any, weakref.WeakSet[_Handle]]] = {}

    @property
    def tid_to_weakhandle(self) -> dict[int, _Handle]:
        """What is saved and has not been cloned: a handle for each memory that it lies in."""
        return {key: next(iter(held)) for key, (_, held) in self._by_memory.items() if held}

    def clear(self) -> None:
        """Forgets everything."""
        self.cloned.clear()
        self.original.clear()
        self._by_memory.clear()

    def pack(self, t: Tensor) -> _Handle:
        """Notes a tensor that is being saved: once, however often it is."""
        cell = version_cell(t)
        held = self._by_memory.setdefault(id(cell), (cell, weakref.WeakSet()))[1]
        for handle in held:
            same = self.original.get(handle)
            if same is not None and same._raw is t._raw:
                return handle
        handle = _Handle()
        kept = new_tensor(t._raw)  # not `t`: its node may be the one that holds the handle
        kept._cell = cell
        self.original[handle] = kept
        held.add(handle)
        return handle

    def before_write(self, t: Tensor) -> None:
        """Copies what has been saved of the memory of `t`."""
        for handle in self._by_memory.pop(id(version_cell(t)), (None, ()))[1]:
            kept = self.original.pop(handle, None)
            if kept is not None:
                self.cloned[handle] = new_tensor(T.copy_like(kept._raw, kept._raw))

    def unpack(self, handle: _Handle) -> Tensor:
        """The tensor as it was when it was saved.

        Raises:
            AssertionError: where the context has ended.
        """
        message = (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            "in which the graph was originally recorded."
        )
        assert any(len(h) > 2 and h[2].__self__ is self for h in ready().saved_hooks), message
        if handle in self.cloned:
            return self.cloned[handle]
        assert handle in self.original, message
        return self.original[handle]


class allow_mutation_on_saved_tensors(contextlib.ContextDecorator):
    """A context in which saved tensors may be written: backward uses the values as they were.

    A saved tensor is copied before the first write to its memory. The graph can be used inside the
    context only. What is written past the operations (through NumPy) isn't seen.

    Raises:
        RuntimeError: on entering, inside of another such context.

    Example:
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x * 1
        ...     z = y * y
        ...     _ = y.zero_()
        ...     z.backward()
        >>> x.grad
        tensor([6.])
    """

    def __enter__(self) -> _AllowMutationOnSavedContext:
        mode = ready()
        if mode.saved_hooks_off:
            raise RuntimeError(mode.saved_hooks_off)
        if any(len(hooks) > 2 for hooks in mode.saved_hooks):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self._context = made = _AllowMutationOnSavedContext()
        hooks = (made.pack, made.unpack, made.before_write)
        try:
            CURRENT.set(derive(mode, saved_hooks=(*mode.saved_hooks, hooks)))
        except BaseException:
            CURRENT.set(mode)
            raise
        return made

    def __exit__(self, *exc: object) -> None:
        fewer: tuple[Any, ...] | None = None
        try:
            fewer = ready().saved_hooks[:-1]
            CURRENT.set(derive(ready(), saved_hooks=fewer))
        except BaseException:
            if fewer is None:
                fewer = ready().saved_hooks[:-1]
            CURRENT.set(derive(ready(), saved_hooks=fewer))
            raise
        finally:
            self._context.clear()


class Spilled:
    """A tensor's elements in a file, which goes when this object goes, or when the process ends."""

    def __init__(self, folder: str, array: Array) -> None:
        import tempfile  # 2 ms to load, so only where it is used

        self._form = disk.form(array)
        handle, self.path = tempfile.mkstemp(suffix=".saved", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                self._file = disk.identity(handle)
                disk.write(file, array)
        except BaseException:
            _unlink(self.path, os.getpid())
            raise
        weakref.finalize(self, _unlink, self.path, os.getpid())

    def load(self) -> TensorBase:
        """The elements, as a tensor."""
        return new_tensor(disk.read(self.path, self._form, self._file))


def _unlink(path: str, owner: int) -> None:
    if os.getpid() != owner:  # a forked child must not delete its parent's files
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


class save_on_disk(saved_tensors_hooks):
    """A context that keeps saved tensors of `min_bytes` or more in files below `dir`.

    A file is deleted as soon as its tensor is released, at the latest when the process ends.

    Raises:
        OSError: on entering, where `dir` isn't a folder that can be written; in the operation that
            saves, where the disk is full. Nothing is lost then: the operation has not been
            recorded, everything saved before stays readable.

    Parameters:
        dir: the folder; None: the system's for temporary files.
        min_bytes: from which size on.
    Example:
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with torch.autograd.graph.save_on_disk(min_bytes=1000):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad[0]
        tensor(2.)
    """

    def __init__(self, dir: str | os.PathLike[str] | None = None, min_bytes: int = 1 << 20) -> None:
        import tempfile

        self.dir = os.fspath(dir) if dir is not None else tempfile.gettempdir()
        self.min_bytes = min_bytes

        def pack(t: Tensor) -> object:
            array = t._raw
            if array.nbytes < min_bytes:
                return new_tensor(array)  # not `t`: an output kept by its own node would be a cycle
            try:
                return Spilled(self.dir, disk.compact(array))
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"can't keep a saved tensor of {array.nbytes} bytes in {self.dir}: "
                    f"{error.strerror or error}. The operation was not recorded; what was saved "
                    "before "
                    "is still there",
                ) from error

        super().__init__(
            pack, lambda packed: packed.load() if isinstance(packed, Spilled) else packed
        )

    def __enter__(self) -> None:
        if not os.path.isdir(self.dir) or not os.access(self.dir, os.W_OK):
            raise OSError(f"{self.dir} is not a folder that can be written")
        before = ready()
        try:
            super().__enter__()
        except BaseException:
            CURRENT.set(before)
            raise


__all__ = [
    "SavedTensor",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "save_on_cpu",
    "save_on_disk",
    "saved_tensors_hooks",
]
