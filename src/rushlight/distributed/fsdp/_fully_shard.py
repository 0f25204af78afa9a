"""`fully_shard`: a module's parameters become DTensors, gathered while the module runs."""

from __future__ import annotations

import contextlib
import functools
from types import MethodType
from typing import TYPE_CHECKING

from ..._tensor.tensor import Tensor
from ...nn.modules.module import Module
from ..device_mesh import init_device_mesh
from ..process_group import default_group
from ..tensor._api import DTensor
from ..tensor.placement_types import Shard
from ._by_rows import RowsLayout
from ._unit import Place, Unit, cast_floats
from .policies import MixedPrecisionPolicy, OffloadPolicy

if TYPE_CHECKING:
    from ..annotations import Given
    from ..device_mesh import DeviceMesh

__all__ = ["FSDPModule", "fully_shard", "register_fsdp_forward_method"]


class FSDPModule:
    """The class that `fully_shard` gives a module besides its own.

    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = dist.fsdp.fully_shard(nn.Linear(2, 1))
        >>> isinstance(model, dist.fsdp.FSDPModule), isinstance(model, nn.Linear)
        (True, True)
        >>> model.unshard()
        >>> type(model.weight).__name__
        'Tensor'
        >>> model.reshard()
        >>> type(model.weight).__name__
        'DTensor'
    """

    _fsdp_unit: Unit | None
    _fsdp_policy: MixedPrecisionPolicy
    _fsdp_stack: list[contextlib.ExitStack]

    def _fsdp_units(self, recurse: bool = True) -> list[Unit]:
        modules = self.modules() if recurse else [self]  # type: ignore[attr-defined]
        return [
            m._fsdp_unit for m in modules if isinstance(m, FSDPModule) and m._fsdp_unit is not None
        ]

    def unshard(self, async_op: bool = False) -> Given:
        """Puts whole parameters in the place of this rank's rows."""
        for unit in self._fsdp_units(False):
            if unit._shown is None:
                unit.show()
        return _Done() if async_op else None

    def reshard(self) -> None:
        """Puts this rank's rows back."""
        for unit in self._fsdp_units(False):
            unit.hide()

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Whether gradients are sent, or added up on each rank alone."""
        for unit in self._fsdp_units(recurse):
            unit.sends = requires_gradient_sync

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Does nothing: nothing waits for the last backward."""

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Does nothing with a mesh of one side."""

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether whole parameters are given up between forward and backward."""
        for unit in self._fsdp_units(recurse):
            unit.keeps = not reshard_after_forward

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Does nothing: whole parameters are given up then in any case."""

    def set_modules_to_forward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Does nothing: parameters are gathered when they are needed."""

    def set_modules_to_backward_prefetch(self, modules: list[FSDPModule]) -> None:
        """Does nothing: parameters are gathered when they are needed."""


class _Done:
    def wait(self) -> None:
        """Nothing is under way."""


def fully_shard(
    module: Given,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Given = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: set[Given] | None = None,
) -> Given:
    """Cuts the parameters that no inner such module has by rows, a part for each rank.

    Parameters:
        module: the module, or several, which are changed; inner parts are cut first.
        mesh: the ranks: of one side, or of two, along the second of which parameters are cut; None
            means all.
        reshard_after_forward: False keeps whole parameters between forward and backward.
        shard_placement_fn: a function of a parameter that tells its placement: None or `Shard(0)`.
        mp_policy: in which types is computed and sent, a `MixedPrecisionPolicy`.
        offload_policy: nothing here: parameters are in the memory of the CPU.
        ignored_params: parameters that stay whole.
    Returns: the module, or what was given; its class is `FSDPModule`, too.
    Raises:
        NotImplementedError: for a parameter that is to be cut in another dimension.
        ValueError: for a module that has been cut before, and without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = dist.fsdp.fully_shard(nn.Linear(2, 1))
        >>> model(torch.ones(1, 2)).sum().backward()
        >>> model.weight.grad.full_tensor()
        tensor([[1., 1.]])
    """
    if isinstance(module, list | tuple):
        for one in module:
            fully_shard(one, mesh=mesh, mp_policy=mp_policy, ignored_params=ignored_params,
                        shard_placement_fn=shard_placement_fn,
                        reshard_after_forward=reshard_after_forward)  # fmt: skip
        return module
    if isinstance(module, FSDPModule):
        raise ValueError(f"fully_shard has already been applied to {type(module).__name__}")
    if mesh is None:
        mesh = init_device_mesh("cpu", (default_group().size(),))
    policy = mp_policy or MixedPrecisionPolicy()
    ignored = {id(p) for p in ignored_params or ()}
    found = _own_parameters(module, ignored)
    for parameter, _ in found if shard_placement_fn is not None else ():
        asked = shard_placement_fn(parameter)
        if asked is not None and asked != Shard(0):
            raise NotImplementedError(f"fully_shard cuts by rows, Shard(0), not {asked}")
    side = mesh.ndim - 1
    unit = None
    if found:
        layout = RowsLayout([p for p, _ in found], mesh, side)
        for (_, places), parameter in zip(found, layout.parameters):
            for owner, name in places:
                owner._parameters[name] = parameter
        unit = Unit(
            [places for _, places in found], layout, mesh.get_group(side),
            reshard_after_forward is False, policy.param_dtype,
            policy.reduce_dtype or policy.param_dtype,
            mesh.get_group(0) if mesh.ndim == 2 else None,
        )  # fmt: skip
    kind = type(module)
    module.__class__ = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {})
    module._fsdp_unit, module._fsdp_policy, module._fsdp_stack = unit, policy, []
    module.register_forward_pre_hook(_before, prepend=True, with_kwargs=True)
    module.register_forward_hook(_after, always_call=True)
    return module


def _own_parameters(module: Module, ignored: set[int]) -> list[tuple[Tensor, list[Place]]]:
    found: dict[int, tuple[Tensor, list[Place]]] = {}
    stack: list[Module] = [module]
    while stack:
        owner = stack.pop()
        for name, parameter in owner._parameters.items():
            if parameter is None or id(parameter) in ignored or isinstance(parameter, DTensor):
                continue
            found.setdefault(id(parameter), (parameter, []))[1].append((owner, name))
        inner = [child for child in owner.children() if not isinstance(child, FSDPModule)]
        stack += reversed(inner)
    return list(found.values())


def _before(module: Given, args: Given, kwargs: Given) -> Given:
    policy: MixedPrecisionPolicy = module._fsdp_policy
    if policy.param_dtype is not None and policy.cast_forward_inputs:
        args, kwargs = cast_floats((args, kwargs), policy.param_dtype)
    stack = contextlib.ExitStack()
    if module._fsdp_unit is not None:
        stack.enter_context(module._fsdp_unit.whole())
    module._fsdp_stack.append(stack)
    return args, kwargs


def _after(module: Given, args: Given, output: Given) -> Given:
    if module._fsdp_stack:
        module._fsdp_stack.pop().close()
    policy: MixedPrecisionPolicy = module._fsdp_policy
    return output if policy.output_dtype is None else cast_floats(output, policy.output_dtype)


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Has a module's parameters be whole while another of its methods than `forward` runs.

    Parameters:
        module: a module of `fully_shard`; any other one is left as it is.
        method_name: the name of its method.
    Shapes: those of the method.
    Returns: None.
    Raises: ValueError: where the module has no such method.
    Example:
        >>> class Net(nn.Linear):
        ...     def encode(self, x):
        ...         return self.weight.shape, type(self.weight).__name__
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> net = dist.fsdp.fully_shard(Net(2, 1))
        >>> dist.fsdp.register_fsdp_forward_method(net, "encode")
        >>> net.encode(torch.ones(1, 2)), type(net.weight).__name__
        ((torch.Size([1, 2]), 'Tensor'), 'DTensor')
    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method = getattr(module, method_name)

    @functools.wraps(method)
    def call(self: Given, *args: Given, **kwargs: Given) -> Given:
        args, kwargs = _before(self, args, kwargs)
        try:
            out = method(*args, **kwargs)
        except BaseException:
            _after(self, args, None)
            raise
        return _after(self, args, out)

    setattr(module, method_name, MethodType(call, module))
