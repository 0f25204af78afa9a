"""`parallelize_module`: which submodules are spread, and how."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from ...device_mesh import active_mesh
from .style import ParallelStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ....nn.modules.module import Module
    from ...device_mesh import DeviceMesh

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Spreads a module, or the submodules that a plan names, over a mesh of one side.

    Parameters:
        module: the module, which is changed.
        device_mesh: the mesh; None means the one that a `with` has made the current one.
        parallelize_plan: a style for the module, or styles by the names of submodules, which may
            hold
            wildcards: "layers.*.linear". With None a warning says that nothing is done.
        src_data_rank: the rank within the mesh's group whose parameters are taken; None means that
            each rank takes its own.
    Returns: the module.
    Raises:
        ValueError: for a mesh of several sides.
        TypeError: for another plan.
        RuntimeError: without a mesh.
        NotImplementedError: for a module that a style doesn't take.
    Example:
        >>> from rushlight.distributed.tensor import parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
        >>> plan = {"0": parallel.ColwiseParallel(), "2": parallel.RowwiseParallel()}
        >>> parallel.parallelize_module(model, mesh, plan)(torch.ones(1, 4)).shape
        torch.Size([1, 4])
    """
    mesh = device_mesh or active_mesh()
    if mesh.ndim != 1:
        raise ValueError(f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D!")
    if parallelize_plan is None:
        warnings.warn(
            "No parallelize_plan is provided and auto-parallel is not supported "
            "at the moment, so this parallelize_module call will do nothing.",
            stacklevel=2,
        )
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for path, style in parallelize_plan.items():
        found = list(_find_modules(module, path))
        if not found:
            warnings.warn(
                f"Parallelize plan key '{path}' could not be resolved: no submodule matching token "
                f"'{path.partition('.')[0]}' in module {type(module)}",
                stacklevel=2,
            )
        for part in found:
            parallelize_module(part, mesh, style, src_data_rank=src_data_rank)
    return module


def _find_modules(module: Module, path: str) -> Iterator[Module]:
    token, _, rest = path.partition(".")
    if not token:
        yield module
        return
    for name, child in module.named_children():
        if fnmatch(name, token):
            if rest:
                yield from _find_modules(child, rest)
            else:
                yield child
