"""How a module's parameters, inputs and outputs lie over ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ....nn.modules.linear import Linear
from ....nn.modules.sparse import Embedding
from ....nn.parameter import Parameter
from .._api import DTensor, distribute_module, distribute_tensor
from ..placement_types import Placement, Replicate, Shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....nn.modules.module import Module
    from ...annotations import Given
    from ...device_mesh import DeviceMesh

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput",
    "PrepareModuleOutput", "RowwiseParallel", "SequenceParallel",
]  # fmt: skip

Layouts = tuple[Placement | None, ...]


class ParallelStyle(ABC):
    """A way to spread a module over ranks, for `parallelize_module`.

    A style of a program's own has a method `_apply(module, device_mesh)`, which gives the module.

    Example:
        >>> from rushlight.distributed.tensor import parallel
        >>> class Announced(parallel.ParallelStyle):
        ...     def _apply(self, module, device_mesh):
        ...         print(type(module).__name__, device_mesh.size())
        ...         return module
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> model = parallel.parallelize_module(nn.ReLU(), mesh, Announced())
        ReLU 1
    """

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module: ...


def _lay_out(value: Given, mesh: DeviceMesh, now: Given, wanted: Given) -> Given:
    """A tensor in the wanted layout: a plain one is a piece in the layout `now`."""
    if now is None or not hasattr(value, "dtype"):
        return value
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, mesh, (now,), run_check=False)
    if wanted is not None and value.placements != (wanted,):
        value = value.redistribute(placements=(wanted,))
    return value


class _OfParameters(ParallelStyle):
    """A module of one input and output, with parameters that are cut."""

    wanted: Placement
    cuts: dict[type[Module], dict[str, Placement]]

    def __init__(
        self, input_layouts: Placement, output_layouts: Placement, use_local_output: bool
    ) -> None:
        self.input_layouts = (input_layouts,)
        self.output_layouts = (output_layouts,)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        cuts = next((c for kind, c in self.cuts.items() if isinstance(module, kind)), None)
        if cuts is None:
            raise NotImplementedError(
                f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!"
            )
        wanted = self._want(module)

        def partition(name: str, part: Module, mesh: DeviceMesh) -> None:
            for key, parameter in list(part.named_parameters()):
                placement = cuts.get(key, Replicate())
                distributed = distribute_tensor(
                    parameter, mesh, [placement], src_data_rank=self.src_data_rank
                )
                part.register_parameter(key, Parameter(distributed, parameter.requires_grad))

        def prepare(part: Module, inputs: Sequence[Given], mesh: DeviceMesh) -> Given:
            return (_lay_out(inputs[0], mesh, self.input_layouts[0], wanted), *inputs[1:])

        def finish(part: Module, outputs: Given, mesh: DeviceMesh) -> Given:
            outputs = outputs.redistribute(placements=self.output_layouts)
            return outputs.to_local() if self.use_local_output else outputs

        return distribute_module(module, device_mesh, partition, prepare, finish)

    def _want(self, module: Module) -> Placement:
        return Replicate()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(input_layouts={self.input_layouts}, "
            f"output_layouts={self.output_layouts}, use_local_output={self.use_local_output})"
        )


class ColwiseParallel(_OfParameters):
    """A linear layer by its outputs, or an embedding by its columns.

    Parameters:
        input_layouts: how the input lies; whole on each rank by default.
        output_layouts: how the output is to lie; cut in the last dimension by default.
        use_local_output: whether the output is this rank's plain tensor, not a DTensor.
    Raises: TypeError: for other parameters. NotImplementedError: when applied to another module.
    Example:
        >>> from rushlight.distributed.tensor import parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> layer = parallel.parallelize_module(nn.Linear(2, 4), mesh, parallel.ColwiseParallel())
        >>> layer.weight.placements, layer(torch.ones(1, 2)).shape
        ((Shard(dim=0),), torch.Size([1, 4]))
    """

    cuts = {Linear: {"weight": Shard(0), "bias": Shard(0)}, Embedding: {"weight": Shard(1)}}

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            input_layouts or Replicate(), output_layouts or Shard(-1), use_local_output
        )


class RowwiseParallel(_OfParameters):
    """A linear layer by its inputs, or an embedding by its rows.

    Parameters:
        input_layouts: how the input lies; cut in the last dimension by default.
        output_layouts: how the output is to lie; whole on each rank by default.
        use_local_output: whether the output is a plain tensor, not a DTensor.
    Raises: TypeError: for other parameters. NotImplementedError: when applied to another module.
    Example:
        >>> from rushlight.distributed.tensor import parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> layer = parallel.parallelize_module(nn.Linear(4, 2), mesh, parallel.RowwiseParallel())
        >>> layer.weight.placements, layer(torch.ones(1, 4)).shape
        ((Shard(dim=1),), torch.Size([1, 2]))
    """

    cuts = {Linear: {"weight": Shard(1)}, Embedding: {"weight": Shard(0)}}

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            input_layouts or Shard(-1), output_layouts or Replicate(), use_local_output
        )

    def _want(self, module: Module) -> Placement:
        return Shard(-1) if isinstance(module, Linear) else Replicate()


class SequenceParallel(ParallelStyle):
    """A module that works on each position alone, as LayerNorm: each rank has some positions.

    Parameters:
        sequence_dim: the dimension of positions.
        use_local_output: whether the output is this rank's plain tensor, not a DTensor.
    Raises: TypeError: for other parameters.
    Example:
        >>> from rushlight.distributed.tensor import parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> norm = parallel.parallelize_module(nn.LayerNorm(2), mesh, parallel.SequenceParallel())
        >>> norm(torch.ones(1, 3, 2)).placements
        (Shard(dim=1),)
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        (cut,) = self.sequence_sharding

        def prepare(part: Module, inputs: Sequence[Given], mesh: DeviceMesh) -> Given:
            return (_lay_out(inputs[0], mesh, cut, cut), *inputs[1:])

        def finish(part: Module, outputs: Given, mesh: DeviceMesh) -> Given:
            return outputs.to_local() if self.use_local_output else outputs

        return distribute_module(module, device_mesh, None, prepare, finish)


def _tuple(given: Given) -> Layouts:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


class PrepareModuleInput(ParallelStyle):
    """Lays a module's inputs out before it runs.

    Parameters:
        input_layouts: how each input lies, None for one that is left as it is; one placement where
            there is one input.
        desired_input_layouts: how each is to lie.
        input_kwarg_layouts: how those given by name lie.
        desired_input_kwarg_layouts: how those are to lie.
        use_local_output: whether the module is given this rank's plain tensors, not DTensors.
    Raises:
        AssertionError: for as many layouts as there aren't wanted ones.
        ValueError: on a call with another number of inputs.
    Example:
        >>> from rushlight.distributed.tensor import Replicate, Shard, parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> style = parallel.PrepareModuleInput(
        ...     input_layouts=Shard(0), desired_input_layouts=Replicate()
        ... )
        >>> parallel.parallelize_module(nn.ReLU(), mesh, style)(torch.ones(2)).placements
        (Replicate(),)
    """

    def __init__(
        self, *, input_layouts: Given = None, desired_input_layouts: Given = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:  # fmt: skip
        self.input_layouts = _tuple(input_layouts)
        self.desired_input_layouts = _tuple(desired_input_layouts)
        self.kwargs = input_kwarg_layouts or {}
        self.desired_kwargs = desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        if len(self.input_layouts) != len(self.desired_input_layouts):
            raise AssertionError("input_layouts and desired_input_layouts should have same length!")

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def one(value: Given, now: Given, wanted: Given) -> Given:
            out = _lay_out(value, device_mesh, now, wanted)
            return out.to_local() if self.use_local_output and isinstance(out, DTensor) else out

        def prepare(part: Module, inputs: Given, kwargs: dict[str, Given]) -> Given:
            if len(inputs) != len(self.input_layouts) and self.input_layouts != (None,):
                raise ValueError("module inputs and input_layouts should have same length!")
            if self.input_layouts != (None,):
                inputs = tuple(map(one, inputs, self.input_layouts, self.desired_input_layouts))
            return inputs, {
                key: one(value, self.kwargs.get(key), self.desired_kwargs.get(key))
                for key, value in kwargs.items()
            }

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Lays a module's outputs out after it has run.

    Parameters:
        output_layouts: how each output lies, None for one that is left as it is; one placement
            where there is one output.
        desired_output_layouts: how each is to lie.
        use_local_output: whether the outputs are this rank's plain tensors, not DTensors.
    Raises:
        AssertionError: for as many layouts as there aren't wanted ones.
        ValueError: on a call with another number of outputs.
    Example:
        >>> from rushlight.distributed.tensor import Replicate, Shard, parallel
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> style = parallel.PrepareModuleOutput(
        ...     output_layouts=Shard(0), desired_output_layouts=Replicate()
        ... )
        >>> parallel.parallelize_module(nn.ReLU(), mesh, style)(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(
        self, *, output_layouts: Given, desired_output_layouts: Given,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        self.output_layouts = _tuple(output_layouts)
        self.desired_output_layouts = _tuple(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError(
                "output_layouts and desired_output_layouts should have same length!"
            )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def finish(part: Module, inputs: Given, outputs: Given) -> Given:
            given = outputs if isinstance(outputs, tuple) else (outputs,)
            if len(given) != len(self.output_layouts):
                raise ValueError("module outputs and output_layouts should have same length!")
            done = []
            for value, now, wanted in zip(given, self.output_layouts, self.desired_output_layouts):
                out = _lay_out(value, device_mesh, now, wanted)
                local = self.use_local_output and isinstance(out, DTensor)
                done.append(out.to_local() if local else out)
            return tuple(done) if isinstance(outputs, tuple) else done[0]

        module.register_forward_hook(finish)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Lays a module's inputs out before it runs, and its outputs afterwards.

    Parameters:
        input_layouts: how the positional inputs lie, for each one; None for one that is left alone.
        desired_input_layouts: how the module is to find each of them.
        input_kwarg_layouts: how inputs that are given by name lie.
        desired_input_kwarg_layouts: how the module is to find those.
        use_local_input: whether the module is given each rank's piece, a plain tensor.
        output_layouts: how the outputs lie, for each one.
        desired_output_layouts: how the caller is to find each of them.
        use_local_output: whether the caller is given each rank's piece.
    Raises:
        AssertionError: for as many layouts as there aren't wanted ones.
    Example:
        >>> import rushlight.distributed as dist
        >>> from rushlight.distributed.tensor import Replicate, Shard
        >>> from rushlight.distributed.tensor.parallel import (
        ...     PrepareModuleInputOutput, parallelize_module)
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> style = PrepareModuleInputOutput(
        ...     input_layouts=Shard(0), desired_input_layouts=Replicate(), use_local_input=True,
        ...     output_layouts=Replicate(), desired_output_layouts=Shard(0))
        >>> parallelize_module(nn.ReLU(), mesh, style)(torch.tensor([[-1.0], [2.0]]))
        tensor([[0.],
                [2.]])
        >>> dist.destroy_process_group()
    """

    def __init__(
        self, *, input_layouts: Given = None, desired_input_layouts: Given = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_input: bool = False, output_layouts: Given, desired_output_layouts: Given,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )  # fmt: skip
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )  # fmt: skip

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)

    def __repr__(self) -> str:
        before, after = self.prepare_module_input, self.prepare_module_output
        return (
            f"{type(self).__name__}(input_layouts={before.input_layouts}, "
            f"desired_input_layouts={before.desired_input_layouts}, "
            f"input_kwarg_layouts={before.kwargs}, "
            f"desired_input_kwarg_layouts={before.desired_kwargs}, "
            f"use_local_input={before.use_local_output}, output_layouts={after.output_layouts}, "
            f"desired_output_layouts={after.desired_output_layouts}, "
            f"use_local_output={after.use_local_output})"
        )
