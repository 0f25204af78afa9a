"""Calling a module, and the hooks that may stand around its `forward` and its gradients.

Hooks live in one table per kind, by handle id; companion tables mark the ones that take keyword
arguments or run even after an error. Global hooks run before a module's own.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .._ground import RemovableHandle, Tensor
from ._backward_hooks import BackwardHook

_Hook = Callable[..., Any]
_Table = OrderedDict[int, Any]


class _GlobalHooks:
    """The hooks that every module in the process runs."""

    def __init__(self) -> None:
        self.forward_pre: _Table = OrderedDict()
        self.forward: _Table = OrderedDict()
        self.forward_with_kwargs: _Table = OrderedDict()
        self.forward_always_called: _Table = OrderedDict()
        self.backward_pre: _Table = OrderedDict()
        self.backward: _Table = OrderedDict()
        # None: no backward hook yet; full and older hooks don't go together.
        self.backward_is_full: bool | None = None


_everywhere = _GlobalHooks()
_forward_pre_everywhere = _everywhere.forward_pre
_forward_everywhere = _everywhere.forward
_backward_pre_everywhere = _everywhere.backward_pre
_backward_everywhere = _everywhere.backward
# Under PyTorch's names, for those who look.
_global_forward_pre_hooks = _everywhere.forward_pre
_global_forward_hooks = _everywhere.forward
_global_forward_hooks_with_kwargs = _everywhere.forward_with_kwargs
_global_forward_hooks_always_called = _everywhere.forward_always_called
_global_backward_pre_hooks = _everywhere.backward_pre
_global_backward_hooks = _everywhere.backward
#: Holds something as soon as `compile()` of any module has been called.
COMPILED: list[bool] = []


def _insert(
    table: _Table, hook: Callable[..., object], *companions: _Table, first: bool = False
) -> RemovableHandle:
    handle = RemovableHandle(table, extra=companions)
    table[handle.id] = hook
    if first:
        table.move_to_end(handle.id, last=False)
    return handle


def register_module_forward_pre_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook(module, args)` before every module's `forward`; it may return new args."""
    return _insert(_everywhere.forward_pre, hook)


def register_module_forward_hook(
    hook: _Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Runs `hook(module, args, output)` after every `forward`; it may change the output."""
    tables = (_everywhere.forward_with_kwargs, _everywhere.forward_always_called)
    handle = _insert(_everywhere.forward, hook, *tables)
    if with_kwargs:
        _everywhere.forward_with_kwargs[handle.id] = True
    if always_call:
        _everywhere.forward_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook(module, grad_output)` before gradients flow through any module."""
    return _insert(_everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook(module, grad_input, grad_output)` once any module's input gradients are known."""
    _agree_on_backward_kind(_everywhere.backward_is_full, True, "global ", "for all modules")
    _everywhere.backward_is_full = True
    return _insert(_everywhere.backward, hook)


def register_module_backward_hook(hook: _Hook) -> RemovableHandle:
    """Runs `hook` at the last graph node of any module; prefer the full backward hook."""
    _agree_on_backward_kind(_everywhere.backward_is_full, False, "global ", "for all modules")
    _everywhere.backward_is_full = False
    return _insert(_everywhere.backward, hook)


def _agree_on_backward_kind(present: bool | None, wanted: bool, kind: str, where: str) -> None:
    if present is not None and present is not wanted:
        if kind:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks as a "
                "global Module hook. Please use only one of them."
            )
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a "
            "single Module. Please use only one of them."
        )


class Hooked:
    """`module(…)` and the registration of hooks."""

    forward: Callable[..., Any]
    _forward_pre_hooks: _Table
    _forward_pre_hooks_with_kwargs: _Table
    _forward_hooks: _Table
    _forward_hooks_with_kwargs: _Table
    _forward_hooks_always_called: _Table
    _backward_pre_hooks: _Table
    _backward_hooks: _Table
    _is_full_backward_hook: bool | None

    def register_forward_pre_hook(
        self, hook: _Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Runs `hook(module, args)` before `forward`; it may return new args.

        `with_kwargs`: `hook(module, args, kwargs)`, which may return `(args, kwargs)`. `prepend`:
        ahead of the hooks that are there.
        """
        companion = self._forward_pre_hooks_with_kwargs
        handle = _insert(self._forward_pre_hooks, hook, companion, first=prepend)
        if with_kwargs:
            companion[handle.id] = True
        return handle

    def register_forward_hook(
        self,
        hook: _Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Runs `hook(module, args, output)` after `forward`; it may return a new output.

        `with_kwargs`: `hook(module, args, kwargs, output)`. `always_call`: even when `forward`
        raises. `prepend`: ahead of the hooks that are there.
        """
        tables = (self._forward_hooks_with_kwargs, self._forward_hooks_always_called)
        handle = _insert(self._forward_hooks, hook, *tables, first=prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(
        self, hook: _Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Runs `hook(module, grad_output)` before gradients flow in; it may return new ones."""
        return _insert(self._backward_pre_hooks, hook, first=prepend)

    def register_full_backward_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Runs `hook(module, grad_input, grad_output)` once the gradients of the inputs are known.

        The hook may return gradients to use in place of `grad_input`. Keyword arguments of the
        call are not covered.

        Raises: RuntimeError, on a module that has hooks of `register_backward_hook`.
        """
        _agree_on_backward_kind(self._is_full_backward_hook, True, "", "")
        self._is_full_backward_hook = True
        return _insert(self._backward_hooks, hook, first=prepend)

    def register_backward_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook` at the last graph node of `forward` only; prefer the full backward hook."""
        _agree_on_backward_kind(self._is_full_backward_hook, False, "", "")
        self._is_full_backward_hook = False
        return _insert(self._backward_hooks, hook)

    def _get_backward_hooks(self) -> tuple[list[_Hook], list[_Hook]]:
        """The full backward hooks, and the older ones, global ones first."""
        full: list[_Hook] = []
        older: list[_Hook] = []
        if _everywhere.backward_is_full is True:
            full += _everywhere.backward.values()
        else:
            older += _everywhere.backward.values()
        if self._is_full_backward_hook is True:
            full += self._backward_hooks.values()
        else:
            older += self._backward_hooks.values()
        return full, older

    def _get_backward_pre_hooks(self) -> list[_Hook]:
        return [*_everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _call_impl(self, *args: object, **kwargs: object) -> object:
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _forward_everywhere
            or _forward_pre_everywhere
            or _backward_everywhere
            or _backward_pre_everywhere
        ):
            return self.forward(*args, **kwargs)
        called: set[int] = set()
        try:
            return self._call_with_hooks(args, kwargs, called)
        except Exception:
            self._call_the_faithful(args, kwargs, called)
            raise

    def _wrapped_call_impl(self, *args: object, **kwargs: object) -> object:
        # As `_call_impl`, for modules that `compile()` was called on: a frame less than if one
        # called the other.
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _forward_everywhere
            or _forward_pre_everywhere
            or _backward_everywhere
            or _backward_pre_everywhere
            or COMPILED
        ):
            return self.forward(*args, **kwargs)
        compiled = self.__dict__.get("_compiled_call_impl") if COMPILED else None
        return (compiled or self._call_impl)(*args, **kwargs)

    __call__: Callable[..., Any] = _wrapped_call_impl

    def _call_with_hooks(
        self, args: tuple[Any, ...], kwargs: dict[str, object], called: set[int]
    ) -> Any:
        args, kwargs = self._run_pre_hooks(args, kwargs)
        full: list[_Hook] = []
        older: list[_Hook] = []
        backward: BackwardHook | None = None
        if self._backward_hooks or _everywhere.backward:
            full, older = self._get_backward_hooks()
        pre = self._get_backward_pre_hooks()
        if full or pre:
            backward = BackwardHook(self, full, pre)
            args = backward.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for table, with_kwargs in self._forward_tables():
            for key, hook in tuple(table.items()):
                called.add(key)
                if key in with_kwargs:
                    answer = hook(self, args, kwargs, result)
                else:
                    answer = hook(self, args, result)
                if answer is not None:
                    result = answer
        if backward is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a "
                    f"Tensor or a tuple of Tensors but received {type(result)}",
                    stacklevel=3,
                )
            else:
                result = backward.setup_output_hook(result)
        if older:
            self._hook_last_node(result, older)
        return result

    def _run_pre_hooks(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        none: _Table = OrderedDict()
        for table, with_kwargs in (
            (_everywhere.forward_pre, none),
            (self._forward_pre_hooks, self._forward_pre_hooks_with_kwargs),
        ):
            for key, hook in tuple(table.items()):
                if key in with_kwargs:
                    answer = hook(self, args, kwargs)
                    if answer is None:
                        continue
                    if not (isinstance(answer, tuple) and len(answer) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple "
                            f"of (new_args, new_kwargs), but got {answer}."
                        )
                    args, kwargs = answer
                else:
                    answer = hook(self, args)
                    if answer is not None:
                        args = answer if isinstance(answer, tuple) else (answer,)
        return args, kwargs

    def _forward_tables(self) -> tuple[tuple[_Table, _Table], tuple[_Table, _Table]]:
        return (
            (_everywhere.forward, _everywhere.forward_with_kwargs),
            (self._forward_hooks, self._forward_hooks_with_kwargs),
        )

    def _call_the_faithful(
        self, args: tuple[object, ...], kwargs: dict[str, object], called: set[int]
    ) -> None:
        """Runs, after an error, the `always_call` hooks that haven't run yet; the error stays."""
        always = {**_everywhere.forward_always_called, **self._forward_hooks_always_called}
        for table, with_kwargs in self._forward_tables():
            for key, hook in tuple(table.items()):
                if key not in always or key in called:
                    continue
                whose = "global module" if table is _everywhere.forward else "module"
                try:
                    if key in with_kwargs:
                        hook(self, args, kwargs, None)
                    else:
                        hook(self, args, None)
                except Exception as error:
                    warnings.warn(
                        f"{whose} forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error!s}",
                        stacklevel=3,
                    )

    def _hook_last_node(self, result: Any, hooks: list[_Hook]) -> None:
        """Puts the older kind of backward hooks on the node of the first tensor in `result`."""
        place = result
        while not isinstance(place, Tensor):
            place = next(iter(place.values())) if isinstance(place, dict) else place[0]
        node = place.grad_fn
        if node is None:
            return
        self._warn_of_partial_gradients(result, node)
        for hook in hooks:
            node.register_hook(
                lambda grads_in, grads_out, hook=hook: hook(self, grads_in, grads_out)
            )

    def _warn_of_partial_gradients(self, result: object, node: Any) -> None:
        parts = result if isinstance(result, tuple) else (result,)
        if not all(isinstance(part, Tensor) for part in parts):
            message = (
                "Using non-full backward hooks on a Module that does not return a "
                "single Tensor or a tuple of Tensors is deprecated and will be removed "
                "in future versions. This hook will be missing some of the grad_output. "
                "Please use register_full_backward_hook to get the documented behavior."
            )
        elif len(parts) > 1:
            message = (
                "Using non-full backward hooks on a Module that returns more than one output "
                "is deprecated and will be removed in future versions. This hook will be "
                "missing some grad_output. Please use register_full_backward_hook to get the "
                "documented behavior."
            )
        elif len(node.next_functions) > 1:
            message = (
                "Using a non-full backward hook when the forward contains multiple autograd Nodes "
                "is deprecated and will be removed in future versions. This hook will be missing "
                "some grad_input. Please use register_full_backward_hook to get the documented "
                "behavior."
            )
        else:
            return
        warnings.warn(message, FutureWarning, stacklevel=4)
