"""`state_dict` and `load_state_dict`: a module's parameters and buffers as a flat dictionary.

Each module writes and reads its own slice, found by its prefix; versions of the module classes
travel in the dictionary's `_metadata`.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .._ground import RemovableHandle, Tensor, no_grad
from ..parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from .module import Module


_NO_EFFECT = (
    "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
    "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
    "state dictionary to their corresponding key in the module instead of copying them in place?)"
)

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_Hook = Callable[..., Any]


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` reports: the keys it missed and the keys it didn't know."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A load hook that wants its module as the first argument; it holds the module weakly enough.

    The module is passed at the call, so a copy of the module passes itself.
    """

    def __init__(self, hook: _Hook, with_module: bool) -> None:
        self.hook = hook
        self.with_module = with_module

    def __call__(self, module: Module, *args: object) -> object:
        return self.hook(module, *args) if self.with_module else self.hook(*args)


class Stateful:
    """The part of a module that turns into a dictionary and comes back from one."""

    _version: int = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]
    _state_dict_hooks: OrderedDict[int, _Hook]
    _state_dict_pre_hooks: OrderedDict[int, _Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, _Hook]
    _load_state_dict_post_hooks: OrderedDict[int, _Hook]
    _own_tensors: Callable[[], Any]

    def get_extra_state(self) -> object:
        """What a class keeps in its `state_dict` beyond tensors; such classes override this."""
        raise RuntimeError(_never_called("get"))

    def set_extra_state(self, state: object) -> None:
        """Takes back what `get_extra_state` gave; classes that override one override both."""
        raise RuntimeError(_never_called("set"))

    # -- hooks ----------------------------------------------------------------------------------

    def _register_state_dict_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(module, state_dict, prefix, metadata)`; it may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        handle = RemovableHandle(self._state_dict_hooks)
        self._state_dict_hooks[handle.id] = hook
        return handle

    def register_state_dict_post_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(module, state_dict, prefix, metadata)` last; it returns nothing."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        handle = RemovableHandle(self._state_dict_hooks)
        self._state_dict_hooks[handle.id] = hook
        return handle

    def register_state_dict_pre_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(module, prefix, keep_vars)` before `state_dict`."""
        handle = RemovableHandle(self._state_dict_pre_hooks)
        self._state_dict_pre_hooks[handle.id] = hook
        return handle

    def _register_load_state_dict_pre_hook(
        self, hook: _Hook, with_module: bool = False
    ) -> RemovableHandle:
        handle = RemovableHandle(self._load_state_dict_pre_hooks)
        self._load_state_dict_pre_hooks[handle.id] = _WrappedHook(hook, with_module)
        return handle

    def register_load_state_dict_pre_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook` before the module's slice is loaded.

        The hook gets module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys and error_msgs, and may change all of these in place.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: _Hook) -> RemovableHandle:
        """Runs `hook(module, incompatible_keys)` after loading; it may change the keys in place."""
        handle = RemovableHandle(self._load_state_dict_post_hooks)
        self._load_state_dict_post_hooks[handle.id] = hook
        return handle

    # -- out ------------------------------------------------------------------------------------

    def _save_to_state_dict(
        self, destination: dict[str, object], prefix: str, keep_vars: bool
    ) -> None:
        """Writes the module's own slice; submodules write theirs."""
        for name, tensor in self._own_tensors():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """An ordered dictionary of all parameters and persistent buffers by dotted path.

        The tensors are detached and share memory with the module; `keep_vars` leaves them
        attached. `destination` is filled instead of a new dictionary, `prefix` goes before
        each key.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, metadata)
            if answer is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = answer
        return destination

    # -- in -------------------------------------------------------------------------------------

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Reads the module's own slice; what goes wrong is added to the three lists.

        A class whose `_version` grew overrides this to bring older dictionaries up to date.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            arguments = (
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
            hook(self, *arguments)
        own = {name: tensor for name, tensor in self._own_tensors() if tensor is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                problem = self._load_one(key, name, target, state_dict[key], assign)
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    head, dot, _ = key[len(prefix) :].partition(".")
                    if head not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _load_one(self, key: str, name: str, target: Tensor, value: Tensor, assign: bool) -> str:
        """Copies (or assigns) one tensor; the text of what went wrong, or ""."""
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", '
                "expected torch.Tensor or Tensor-like object from checkpoint but "
                f"received {type(value)}"
            )
        if is_lazy(target) and is_lazy(value):
            return ""
        if target.dim() == 0 and value.dim() == 1:
            # Files from before PyTorch 0.4 hold one-element vectors where 0-d tensors are meant.
            value = value[0]
        if value.shape != target.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {target.shape}."
            )
        try:
            with no_grad():
                if not assign:
                    if target.is_meta and not value.is_meta:
                        warnings.warn(_NO_EFFECT.format(key), UserWarning, stacklevel=2)
                    target.copy_(value)
                    return ""
                if isinstance(target, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(target.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=target.requires_grad)
                setattr(self, name, value)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{target.size()} and whose dimensions in the checkpoint are {value.size()}, "
                f"an exception occurred : {error.args}."
            )
        return ""

    def load_state_dict(
        self, state_dict: Mapping[str, object], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copies a `state_dict` into the module; returns the missing and the unexpected keys.

        `strict=False` accepts keys that don't match. `assign=True` makes the given tensors the
        module's own instead of copying their values.

        Raises: TypeError, for something that is no mapping; RuntimeError, with every mismatch.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        everything: Any = OrderedDict(state_dict)
        if metadata is not None:
            everything._metadata = metadata

        _load(self, everything, "", _Loading(metadata, assign, missing, unexpected, problems))
        if strict:
            if unexpected:
                problems.insert(0, f"Unexpected key(s) in state_dict: {_quote(unexpected)}. ")
            if missing:
                problems.insert(0, f"Missing key(s) in state_dict: {_quote(missing)}. ")
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(problems)
            )
        return _IncompatibleKeys(missing, unexpected)


class _Loading(NamedTuple):
    """What is known of a state that is being loaded, and what is wrong with it."""

    metadata: dict[str, Any] | None
    assign: bool
    missing: list[str]
    unexpected: list[str]
    problems: list[str]


def _load(module: Stateful, slice_: Mapping[str, object], prefix: str, now: _Loading) -> None:
    """Gives a module and those below it their part of a state."""
    local = {} if now.metadata is None else now.metadata.get(prefix[:-1], {})
    if now.assign:
        local["assign_to_params_buffers"] = now.assign
    module._load_from_state_dict(
        slice_, prefix, local, True, now.missing, now.unexpected, now.problems
    )
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            inside = {k: v for k, v in slice_.items() if k.startswith(below)}
            _load(child, inside, below, now)
    keys = _IncompatibleKeys(now.missing, now.unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                "expected to return new values, if incompatible_keys need to be modified, "
                "it should be done inplace."
            )


def _quote(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _never_called(verb: str) -> str:
    return (
        f"Reached a code path in Module.{verb}_extra_state() that should never be called. "
        "Please file an issue at https://github.com/pytorch/pytorch/issues/new"
        "?template=bug-report.yml to report this bug."
    )
