"""`DataParallel`: the chunks of a batch through replicas of a module, each in a thread.

Without `device_ids` the module is called as it is, as PyTorch does on a machine without GPUs. With
them, one replica runs per index: the replicas share the parameters themselves, so gradients of all
chunks are summed into the one set, and buffers are read from, and written to, the first replica's.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._ground import Tensor, f
from ..modules.module import Module

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike


__all__ = ["DataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


def scatter(inputs: object, device_ids: Sequence[object], dim: int = 0) -> list[Any]:
    """`inputs` once per chunk: tensors split along `dim`, containers rebuilt, the rest repeated.

    Parameters:
        inputs: a tensor, or lists, tuples and dictionaries of them.
        device_ids: one for each chunk.
        dim: the dimension that is split.
    Returns: list: the chunks.
    Raises: RuntimeError: for no chunks.
    Example:
        >>> torch.nn.parallel.scatter(torch.arange(4), [0, 1])
        [tensor([0, 1]), tensor([2, 3])]
    """
    if isinstance(inputs, Tensor):
        return list(inputs.chunk(len(device_ids), dim))
    if isinstance(inputs, tuple) and hasattr(inputs, "_fields") and inputs:
        parts = zip(*(scatter(part, device_ids, dim) for part in inputs), strict=False)
        return [type(inputs)(*part) for part in parts]
    if isinstance(inputs, tuple) and inputs:
        return list(zip(*(scatter(part, device_ids, dim) for part in inputs), strict=False))
    if isinstance(inputs, list) and inputs:
        columns = zip(*(scatter(part, device_ids, dim) for part in inputs), strict=False)
        return [list(part) for part in columns]
    if isinstance(inputs, dict) and inputs:
        columns = zip(*(scatter(part, device_ids, dim) for part in inputs.values()), strict=False)
        return [type(inputs)(zip(inputs, part, strict=True)) for part in columns]
    return [inputs for _ in device_ids]


def gather(outputs: Sequence[Any], target_device: DeviceLike | None = None, dim: int = 0) -> Any:
    """The chunks' outputs as one: tensors joined along `dim`, containers rebuilt, in order.

    Parameters:
        outputs: one for each chunk.
        target_device: where the result is; the CPU.
        dim: the dimension along which tensors are joined; those without dimensions are stacked.
    Returns: what one output is, with all elements.
    Raises: IndexError: for no outputs. ValueError: for dictionaries of different length.
    Example:
        >>> torch.nn.parallel.gather([torch.tensor([0, 1]), torch.tensor([2, 3])])
        tensor([0, 1, 2, 3])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        if all(part.dim() == 0 for part in outputs):
            return f.stack(list(outputs))
        return f.cat(list(outputs), dim)
    if first is None:
        return None
    if isinstance(first, Mapping):
        if not all(len(part) == len(first) for part in outputs):
            raise ValueError("All dicts must have the same number of keys")
        kind: Any = type(first)
        return kind((key, gather([part[key] for part in outputs], None, dim)) for key in first)
    columns = (gather(column, None, dim) for column in zip(*outputs, strict=True))
    make: Any = type(first)
    return make._make(columns) if hasattr(first, "_make") else make(columns)


def replicate(network: Module, devices: Sequence[object], detach: bool = False) -> list[Module]:
    """Copies of the module tree that share its parameters and buffers.

    Parameters:
        network: the module.
        devices: one for each copy.
        detach: accepted; parameters are shared either way.
    Returns: list of Module.
    Raises: AttributeError: for anything but a module.
    Example:
        >>> linear = nn.Linear(1, 1)
        >>> one, two = torch.nn.parallel.replicate(linear, [0, 1])
        >>> one.weight is linear.weight, two is linear
        (True, False)
    """
    return [_replica(network, {}) for _ in devices]


def _replica(module: Module, made: dict[int, Module]) -> Module:
    """A copy of one module and all below it; a submodule used twice stays one."""
    if id(module) not in made:
        copy = module._replicate_for_data_parallel()
        copy._parameters = dict(module._parameters)
        made[id(module)] = copy
        for name, child in module._modules.items():
            copy._modules[name] = None if child is None else _replica(child, made)
    return made[id(module)]


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[object],
    kwargs_tup: Sequence[dict[str, object]] | None = None,
    devices: Sequence[object] | None = None,
) -> list[Any]:
    """Each module on its inputs, each in a thread; the outputs in order.

    Every thread runs in a copy of the caller's context, so gradient mode and saved-tensor hooks
    are the caller's. An exception of a worker is raised here once all have ended, the first
    module's first.

    Parameters:
        modules: the modules.
        inputs: for each its argument, or a tuple of several.
        kwargs_tup: for each its named arguments.
        devices: accepted; there is the CPU.
    Returns: list: the outputs.
    Raises: AssertionError: where there aren't as many inputs as modules.
    Example:
        >>> inputs = [torch.ones(1), torch.zeros(1)]
        >>> torch.nn.parallel.parallel_apply([nn.ReLU(), nn.Tanh()], inputs)
        [tensor([1.]), tensor([0.])]
    """
    options = kwargs_tup if kwargs_tup is not None else [{}] * len(modules)
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs "
            f"{len(inputs)}"
        )
    outputs: list[Any] = [None] * len(modules)
    errors: list[BaseException | None] = [None] * len(modules)

    def work(place: int) -> None:
        args = inputs[place]
        if not isinstance(args, (list, tuple)):
            args = (args,)
        try:
            outputs[place] = modules[place](*args, **options[place])
        except BaseException as error:
            errors[place] = error

    if len(modules) == 1:
        work(0)
    else:
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(work, place))
            for place in range(len(modules))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for error in errors:
        if error is not None:
            raise error
    return outputs


class DataParallel(Module):
    """Runs a module over chunks of a batch; the module is kept as `module`.

    With no `device_ids` a call is a call of the module. CPU indices in `device_ids` split tensors
    along `dim` into that many chunks, which run in threads; outputs are gathered in order.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[object] | None = None,
        output_device: DeviceLike | None = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = [] if device_ids is None else list(device_ids)
        if self.device_ids:
            self.dim = dim
            self.output_device = self.device_ids[0] if output_device is None else output_device

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        return _run(self.module, inputs, kwargs, self.device_ids, self.dim)


def _run(
    module: Module,
    inputs: tuple[object, ...],
    kwargs: dict[str, object],
    device_ids: Sequence[object],
    dim: int,
) -> object:
    parts, options = _scatter(inputs, kwargs, device_ids, dim)
    if len(parts) == 1:
        return module(*parts[0], **options[0])
    replicas = replicate(module, parts)
    return gather(parallel_apply(replicas, parts, options), None, dim)


def _scatter(
    inputs: tuple[object, ...], kwargs: dict[str, object], device_ids: Sequence[object], dim: int
) -> tuple[list[tuple[object, ...]], list[dict[str, object]]]:
    """Arguments per chunk; a side with fewer chunks than the other is filled with nothing."""
    parts: list[tuple[Any, ...]] = scatter(inputs, device_ids, dim) if inputs else []
    options: list[dict[str, Any]] = scatter(kwargs, device_ids, dim) if kwargs else []
    count = max(len(parts), len(options), 1)
    parts += [()] * (count - len(parts))
    options += [{}] * (count - len(options))
    return parts, options


def data_parallel(
    module: Module,
    inputs: object,
    device_ids: Sequence[object] | None = None,
    output_device: DeviceLike | None = None,
    dim: int = 0,
    module_kwargs: dict[str, object] | None = None,
) -> Any:
    """The module on `inputs`, by chunks: what a `DataParallel` call does, without the object.

    Parameters:
        module: the module.
        inputs: its argument, or a tuple of several.
        device_ids: one for each chunk; None: all at once.
        output_device: where the result is; the CPU.
        dim: the dimension that is split.
        module_kwargs: named arguments, which are split too.
    Returns: what the module gives for all elements.
    Raises: what the module raises.
    Example:
        >>> torch.nn.parallel.data_parallel(nn.ReLU(), torch.tensor([-1.0, 1.0]), [0, 1])
        tensor([0., 1.])
    """
    args = inputs if isinstance(inputs, tuple) else (inputs,)
    options = {} if module_kwargs is None else module_kwargs
    if not device_ids:
        return module(*args, **options)
    return _run(module, args, options, device_ids, dim)
