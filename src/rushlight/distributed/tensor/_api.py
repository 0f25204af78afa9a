"""`DTensor`: a tensor that lies over the ranks of a mesh, and is used like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._tensor.tensor import Tensor
from ...autograd.function import Function
from ...autograd.grad_mode import is_grad_enabled
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ..collectives import broadcast, scatter
from ..device_mesh import DeviceMesh, active_mesh
from ._dispatch import compute
from ._layout import DTensorSpec, Placements, TensorMeta, move, piece
from .placement_types import Partial, Placement, Replicate, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..annotations import Ctx, Given, Gradients


__all__ = ["DTensor", "distribute_module", "distribute_tensor"]


class DTensor(Tensor):
    """A tensor of which each rank of a mesh has a piece, the whole, or a part of the sum.

    Operations on it give DTensors, and send what they need; `distribute_tensor` and `from_local`
    make it, `to_local` and `full_tensor` lead back.

    Parameters:
        local_tensor: what this rank has.
        spec: the mesh, the placements, and the shape, strides and dtype of the whole.
        requires_grad: whether gradients are computed for it.
    Raises: TypeError: without a spec. RuntimeError: on operations whose result's layout isn't
        known.
    Example:
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> rows = dist.tensor.distribute_tensor(torch.eye(2), mesh, [dist.tensor.Shard(0)])
        >>> (rows @ rows).placements
        (Shard(dim=0),)
        >>> (rows * 2).full_tensor()
        tensor([[2., 0.],
                [0., 2.]])
    """

    __module__ = "torch.distributed.tensor"
    _local_tensor: Tensor
    _spec: DTensorSpec

    def __new__(
        cls, local_tensor: Tensor, spec: DTensorSpec, *, requires_grad: bool = False
    ) -> DTensor:
        made: DTensor = Tensor._make_wrapper_subclass(  # type: ignore[assignment]
            cls, spec.shape, spec.tensor_meta.stride, dtype=spec.tensor_meta.dtype,
            requires_grad=requires_grad,
        )  # fmt: skip
        made._spec = spec
        made._local_tensor = local_tensor
        return made

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return (
            f"DTensor(local_tensor={self._local_tensor}, device_mesh={self._spec.mesh}, "
            f"placements={self._spec.placements})"
        )

    @classmethod
    def __torch_dispatch__(
        cls, func: Given, types: Given, args: Given = (), kwargs: Given = None
    ) -> Given:
        return compute(DTensor, func, args, kwargs or {})

    def _piece_like(self, other: Tensor) -> Tensor | None:
        """What this rank has of it, where the elements of `other` lie at the same places."""
        if not isinstance(other, DTensor):
            return None
        mine, its = self._spec, other._spec
        same = mine is its or (
            mine.mesh == its.mesh and mine.placements == its.placements and mine.shape == its.shape
        )
        whole = not any(placement.is_partial() for placement in mine.placements)
        return self._local_tensor if same and whole else None

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh that the tensor lies over."""
        return self._spec.mesh

    @property
    def placements(self) -> Placements:
        """How it lies, for each side of the mesh."""
        return self._spec.placements

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """The tensor whose pieces the ranks have.

        Raises:
            RuntimeError: for a piece that is a DTensor, and for a shape without strides.
        """
        if isinstance(local_tensor, DTensor):
            raise RuntimeError(
                "the local_tensor argument only accepts torch.Tensor but got "
                f"{type(local_tensor)} value."
            )
        mesh = device_mesh or active_mesh()
        where = _placements(mesh, placements, local_tensor.dim())
        back = None if grad_placements is None else tuple(grad_placements)
        out: DTensor = _FromLocal.apply(local_tensor, mesh, where, run_check, shape, stride, back)
        return out

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This rank's piece; its gradient lies as the tensor does, or as is told."""
        if not is_grad_enabled():
            return self._local_tensor
        back = None if grad_placements is None else tuple(grad_placements)
        out: Tensor = _ToLocal.apply(self, back)
        return out

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Given = None,
        backward_dtype: Given = None,
    ) -> DTensor:
        """The same tensor in another layout.

        Raises:
            RuntimeError: without placements, and for parts of a sum.
        """
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        for now, wanted in zip(self.placements, placements):
            if wanted.is_partial() and now != wanted:
                raise RuntimeError(
                    f"Can not redistribute from {now} to {wanted}, redistributing to Partial is "
                    "for internal use only!"
                )
        where = _placements(self.device_mesh, placements, self.dim())
        out: DTensor = _Redistribute.apply(self, where, forward_dtype, backward_dtype)
        return out

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole, on every rank."""
        whole = self.redistribute(placements=[Replicate()] * self.device_mesh.ndim)
        return whole.to_local(grad_placements=grad_placements)


def _placements(mesh: DeviceMesh, given: Sequence[Placement] | None, dims: int) -> Placements:
    if given is None:
        return (Replicate(),) * mesh.ndim
    return tuple(Shard(p.dim + dims) if isinstance(p, Shard) and p.dim < 0 else p for p in given)


def _for_gradient(placements: Placements) -> Placements:
    """How a gradient lies: what is a part of a sum has the whole gradient."""
    return tuple(Replicate() if isinstance(p, Partial) else p for p in placements)


def _in_layout(grad: DTensor, placements: Placements) -> Tensor:
    return move(grad._local_tensor, grad._spec, placements)


class _FromLocal(Function):
    @staticmethod
    def forward(
        ctx: Ctx, local: Tensor, mesh: DeviceMesh, placements: Placements, checked: bool,
        shape: Sequence[int] | None, stride: Sequence[int] | None, back: Placements | None,
    ) -> DTensor:  # fmt: skip
        ctx.back = back or _for_gradient(placements)
        if shape is None:
            whole, steps = list(local.shape), list(local.stride())
            for side, placement in enumerate(placements):
                if isinstance(placement, Shard):
                    count = mesh.size(side)
                    held = whole[placement.dim]
                    whole[placement.dim] *= count
                    for dim, step in enumerate(steps):
                        if dim != placement.dim and step >= steps[placement.dim] * held:
                            steps[dim] *= count
        elif stride is None:
            raise RuntimeError(
                f"Found shape:{shape}, stride:{stride}. Please pass both shape and stride at the "
                "same time."
            )
        else:
            whole, steps = list(shape), list(stride)
        own = local.detach()
        if checked:
            own = own.clone()
            for side, placement in enumerate(placements):
                if isinstance(placement, Replicate):
                    broadcast(own, group=mesh.get_group(side), group_src=0)
        meta = TensorMeta(tuple(whole), tuple(steps), local.dtype)
        return DTensor(own, DTensorSpec(mesh, placements, meta), requires_grad=False)

    @staticmethod
    def backward(ctx: Ctx, grad: DTensor) -> Gradients:
        return _in_layout(grad, ctx.back), *(None,) * 6


class _ToLocal(Function):
    @staticmethod
    def forward(ctx: Ctx, tensor: DTensor, back: Placements | None) -> Tensor:
        ctx.spec, ctx.back = tensor._spec, back
        local = tensor._local_tensor.detach()
        return local.view_as(local)

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        placements = ctx.back or _for_gradient(ctx.spec.placements)
        return DTensor(grad, ctx.spec._replace(placements=placements), requires_grad=False), None


class _Redistribute(Function):
    @staticmethod
    def forward(
        ctx: Ctx, tensor: DTensor, placements: Placements, sent: Given, sent_back: Given
    ) -> DTensor:
        ctx.spec, ctx.sent_back = tensor._spec, sent_back
        local, spec = tensor._local_tensor.detach(), tensor._spec
        if sent is not None:
            local = local.to(sent)
            spec = spec._replace(tensor_meta=spec.tensor_meta._replace(dtype=sent))
        out = move(local, spec, placements)
        if out is local:
            out = local.view_as(local)
        return DTensor(out, spec._replace(placements=placements), requires_grad=False)

    @staticmethod
    def backward(ctx: Ctx, grad: DTensor) -> Gradients:
        before: DTensorSpec = ctx.spec
        placements = tuple(
            Replicate() if isinstance(p, Partial) and not isinstance(g, Partial) else p
            for p, g in zip(before.placements, grad.placements)
        )
        local, spec = grad._local_tensor, grad._spec
        local = local.to(ctx.sent_back or before.tensor_meta.dtype)
        local = move(local, spec, placements).to(before.tensor_meta.dtype)
        return DTensor(local, before._replace(placements=placements)), None, None, None


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """Spreads a leaf tensor over a mesh: the elements are those of each side's first rank.

    Parameters:
        tensor: a leaf, of the same shape and dtype on all ranks.
        device_mesh: the mesh; None means the one that a `with` has made the current one.
        placements: how it lies, a `Placement` for each side; None means whole on each rank.
        src_data_rank: the rank within each side's group whose elements are taken; None means that
            each rank takes its own.
    Shapes: any; the result has that of `tensor`, whatever each rank has of it.
    Returns: a `DTensor`; the tensor itself where it is one in this layout.
    Raises:
        RuntimeError: for a tensor that isn't a leaf, and without a mesh.
        ValueError: for another number of placements, and for a DTensor in another layout.
        IndexError: for a dimension that there isn't.
    Example:
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> row = dist.tensor.distribute_tensor(torch.arange(4), mesh, [dist.tensor.Shard(0)])
        >>> row.shape, row.to_local()
        (torch.Size([4]), tensor([0, 1, 2, 3]))
    """
    mesh = device_mesh or active_mesh()
    if not tensor.is_leaf:
        raise RuntimeError(
            "`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf "
            "tensor!"
        )
    if placements is not None and len(placements) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! Found placements "
            f"length: {len(placements)}, and device_mesh.ndim: {mesh.ndim}."
        )
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(
                f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} "
                f"to a different device mesh {mesh}."
            )
        if tensor.placements != tuple(placements or ()):
            raise ValueError(
                f"Cannot distribute a DTensor with placements {tensor.placements} to a different "
                f"placements {placements}. do you want to call `redistribute` instead?"
            )
        return tensor
    where = _placements(mesh, placements, tensor.dim())
    local = tensor.detach()
    for side, placement in enumerate(where):
        local = _hand_out(local, mesh, side, placement, src_data_rank)
    meta = TensorMeta(tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
    return DTensor(local, DTensorSpec(mesh, where, meta), requires_grad=tensor.requires_grad)


def _hand_out(
    local: Tensor, mesh: DeviceMesh, side: int, placement: Placement, source: int | None
) -> Tensor:
    """What a rank has of what the first along a side has."""
    group, count = mesh.get_group(side), mesh.size(side)
    if isinstance(placement, Shard):
        parts = [
            local.narrow(placement.dim, *piece(local.shape[placement.dim], count, i)).contiguous()
            for i in range(count)
        ]
        own = parts[group.rank()].clone()
        if source is not None and count > 1:
            first = parts[0].shape  # pieces are sent alike: the last are filled up
            sent = [_fill_up(part, first) for part in parts] if group.rank() == source else None
            place = local.new_empty(first)
            scatter(place, sent, group=group, group_src=source)
            lengths = own.shape
            own = place.narrow(placement.dim, 0, lengths[placement.dim]).contiguous()
        return own
    own = local.contiguous().clone()
    if source is not None and count > 1:
        broadcast(own, group=group, group_src=source)
    if isinstance(placement, Partial) and placement.reduce_op == "sum":
        return own / count
    return own


def _fill_up(part: Tensor, shape: Sequence[int]) -> Tensor:
    if tuple(part.shape) == tuple(shape):
        return part
    out = part.new_zeros(shape)
    out[tuple(slice(0, length) for length in part.shape)] = part
    return out


def distribute_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Module, DeviceMesh], None] | None = None,
    input_fn: Callable[..., Given] | None = None,
    output_fn: Callable[..., Given] | None = None,
) -> Module:
    """Spreads a module's parameters and buffers over a mesh.

    Parameters:
        module: the module, which is changed.
        device_mesh: the mesh; None means the one that a `with` has made the current one.
        partition_fn: a function of the name of each submodule, the submodule and the mesh, which
            may put DTensors in the place of its parameters; those that it leaves are whole on each
            rank.
        input_fn: a function of module, inputs and mesh, which gives the inputs it is to run with.
        output_fn: a function of module, outputs and mesh, which gives the outputs it is to have.
    Shapes: those of the parameters and buffers stay.
    Returns: the module.
    Raises: RuntimeError: for a module that this was done with before, and without a mesh.
    Example:
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> model = dist.tensor.distribute_module(nn.Linear(2, 1), mesh)
        >>> model.weight.placements
        (Replicate(),)
    """
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError(
            "distribute_module should only be called once on a module, but it has already been "
            "called on this module!"
        )
    mesh = device_mesh or active_mesh()
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate(part, mesh)
    if input_fn is not None:
        prepare = input_fn
        module.register_forward_pre_hook(lambda mod, inputs: prepare(mod, inputs, mesh))
    if output_fn is not None:
        finish = output_fn
        module.register_forward_hook(lambda mod, inputs, outputs: finish(mod, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _replicate(module: Module, mesh: DeviceMesh) -> None:
    for name, parameter in list(module._parameters.items()):
        if parameter is not None and not isinstance(parameter, DTensor):
            whole = distribute_tensor(parameter.detach(), mesh)
            module.register_parameter(name, Parameter(whole, parameter.requires_grad))
    for name, buffer in list(module._buffers.items()):
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh)
