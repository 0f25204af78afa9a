"""What a module owns: its tables of parameters, buffers and submodules, by name.

Attributes of a module live in one of four places: the three tables, or the ordinary `__dict__`.
`__setattr__` decides which by the value's class; `__getattr__` runs only for what `__dict__` and
the class don't have, so plain attributes cost nothing extra.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .._ground import RemovableHandle, Tensor, typename
from ..parameter import Buffer, Parameter

if TYPE_CHECKING:
    from .module import Module


# Hooks that see every registration in the process: hook(module, name, value) may return
# another value.
_global_parameter_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_module_parameter_registration_hook(hook: Callable[..., object]) -> RemovableHandle:
    """Runs `hook(module, name, parameter)` at every `register_parameter`; keep the handle."""
    handle = RemovableHandle(_global_parameter_registration_hooks)
    _global_parameter_registration_hooks[handle.id] = hook
    return handle


def register_module_buffer_registration_hook(hook: Callable[..., object]) -> RemovableHandle:
    """Runs `hook(module, name, buffer)` at every `register_buffer`; keep the handle."""
    handle = RemovableHandle(_global_buffer_registration_hooks)
    _global_buffer_registration_hooks[handle.id] = hook
    return handle


def register_module_module_registration_hook(hook: Callable[..., object]) -> RemovableHandle:
    """Runs `hook(module, name, submodule)` at every submodule registration; keep the handle."""
    handle = RemovableHandle(_global_module_registration_hooks)
    _global_module_registration_hooks[handle.id] = hook
    return handle


def _filter(
    hooks: OrderedDict[int, Callable[..., object]], owner: object, name: str, value: object
) -> Any:
    """`value` after the registration hooks had their say."""
    for hook in hooks.values():
        other = hook(owner, name, value)
        if other is not None:
            value = other
    return value


class Registry:
    """The tables of a module, and every way to fill, read and walk them."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]

    # -- registration ---------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under `name`; `None` reserves the name and is left out of `state_dict`.

        Raises: KeyError, for a name that is empty, dotted or taken; TypeError, for a value that is
        no `Parameter`; ValueError, for a parameter that has a history.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                "parameters must be created explicitly. To express "
                f"'{name}' as a function of another Tensor, compute the value in "
                "the forward() method."
            )
        self._parameters[name] = _filter(_global_parameter_registration_hooks, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is part of the module's state but isn't trained.

        `persistent=False` keeps it out of `state_dict`.

        Raises: KeyError, for a name that is empty, dotted or taken; TypeError, for a value that is
        no tensor.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = _filter(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: object) -> None:
        """Adds a submodule under `name`, reachable as the attribute of that name.

        Raises: KeyError, for a name that is empty, dotted or taken; TypeError, for a value that is
        no module.
        """
        if not isinstance(module, Registry) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _filter(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module) -> None:
        """Adds a submodule; the same as `add_module`."""
        self.add_module(name, module)

    def _check_name(self, what: str, name: str, table: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    # -- attributes -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Tensor | Module:
        # Two questions by operators take half the time of one call of `get`.
        tables = self.__dict__
        if "_parameters" in tables and name in (table := tables["_parameters"]):
            return table[name]
        if "_modules" in tables and name in (table := tables["_modules"]):
            return table[name]
        if "_buffers" in tables and name in (table := tables["_buffers"]):
            return table[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        if isinstance(value, Registry):
            if name in own.get("_parameters", ()):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep="_modules")
            own["_modules"][name] = _filter(_global_module_registration_hooks, self, name, value)
        elif isinstance(value, Tensor):
            self._set_tensor(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            own["_modules"][name] = _filter(_global_module_registration_hooks, self, name, None)
        elif name in own.get("_buffers", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            own["_buffers"][name] = _filter(_global_buffer_registration_hooks, self, name, None)
        else:
            object.__setattr__(self, name, value)

    def _set_tensor(self, name: str, value: Tensor) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            raise TypeError(
                f"cannot assign '{typename(value)}' as parameter '{name}' "
                "(torch.nn.Parameter or None expected)"
            )
        elif name in own.get("_modules", ()):
            raise TypeError(
                f"cannot assign '{typename(value)}' as child module '{name}' "
                "(torch.nn.Module or None expected)"
            )
        elif isinstance(value, Buffer):
            if "_buffers" not in own:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)  # type: ignore[attr-defined]
        elif name in own.get("_buffers", ()):
            own["_buffers"][name] = _filter(_global_buffer_registration_hooks, self, name, value)
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, keep: str) -> None:
        """Takes `name` out of every place but the table called `keep`."""
        own = self.__dict__
        own.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep and table in own:
                own[table].pop(name, None)
        if "_non_persistent_buffers_set" in own:
            own["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {
            *dir(type(self)),
            *self.__dict__,
            *self._parameters,
            *self._modules,
            *self._buffers,
        }
        # "0", "1" … are no identifiers: completion shouldn't offer the children of a Sequential.
        return sorted(name for name in names if not name[0].isdigit())

    # -- lookup by dotted path ------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """The submodule at a dotted path; the module itself for "".

        Raises: AttributeError, where the path leads nowhere or not to a module.
        """
        if target == "":
            return self
        place: Any = self
        for part in target.split("."):
            if not hasattr(place, part):
                raise AttributeError(f"{place._get_name()} has no attribute `{part}`")
            place = getattr(place, part)
            if not isinstance(place, Registry):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return place

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts `module` at a dotted path, in place of what is there.

        `strict` refuses to add a child that doesn't exist yet.

        Raises: ValueError, for an empty path or a value that is no module; AttributeError, where
        the path leads nowhere or not to a module.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Registry):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Registry):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path.

        Raises: AttributeError, where the path leads nowhere or not to a parameter.
        """
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        found = getattr(owner, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path.

        Raises: AttributeError, where the path leads nowhere or not to a buffer.
        """
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return owner._buffers[name]

    # -- walks ----------------------------------------------------------------------------------

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        walk = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else iter([(prefix, self)])
        )
        for path, owner in walk:
            for name, member in get_members_fn(owner):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{path}.{name}" if path else name), member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Each parameter of the module and, with `recurse`, of its submodules, once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Each parameter with its dotted path; shared ones once unless `remove_duplicate=False`."""
        yield from self._named_members(
            lambda owner: owner._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Each buffer of the module and, with `recurse`, of its submodules, once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Each buffer with its dotted path; shared ones once unless `remove_duplicate=False`."""
        yield from self._named_members(
            lambda owner: owner._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self) -> Iterator[Module]:
        """Each direct submodule, once."""
        for _, child in self.named_children():
            yield child

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Each direct submodule with its name, once."""
        seen: set[Any] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def modules(self) -> Iterator[Module]:
        """The module itself and each module below it, parents first, once."""
        for _, module in self.named_modules():
            yield module

    def named_modules(
        self, memo: set[object] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """The module itself ("") and each module below it with its dotted path, parents first."""
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, path, remove_duplicate)

    def _own_tensors(self) -> Iterator[tuple[str, Tensor | None]]:
        """What the module's own slice of a `state_dict` holds: parameters, persistent buffers."""
        return itertools.chain(
            self._parameters.items(),
            (
                (name, buffer)
                for name, buffer in self._buffers.items()
                if name not in self._non_persistent_buffers_set
            ),
        )

    def _get_name(self) -> str:
        return type(self).__name__
