"""Meshes: ranks laid out along sides, with a group of ranks for each side.

A mesh of shape (2, 4) has ranks 0 to 3 in its first row and 4 to 7 in its second. Its group of side
0 is this rank's column, that of side 1 its row; a slice is the mesh of some of its sides.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes as D
from ._ground import f
from .process_group import (
    ProcessGroup,
    choose,
    default_group,
    get_process_group_ranks,
    init_process_group,
    is_initialized,
    new_group,
)
from .stores import HashStore

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .annotations import Given


__all__ = ["DeviceMesh", "init_device_mesh"]


class _Active:
    meshes: list[DeviceMesh] = []


class DeviceMesh:
    """Ranks laid out along sides, which may have names.

    Each rank has a group of ranks for each side: those that differ from it in that side alone.

    Parameters:
        device_type: the kind of devices: "cpu".
        mesh: the ranks, as nested lists or a tensor of whole numbers.
        mesh_dim_names: a name for each side, by which parts of the mesh are taken: `mesh["dp"]`.
        backend_override: nothing here: there is one backend.
    Raises:
        TypeError: without a mesh.
        RuntimeError: for more ranks than there are, and for a rank in it twice.
    Example:
        >>> mesh = dist.DeviceMesh("cpu", [[0]], mesh_dim_names=("dp", "tp"))
        >>> mesh.shape, mesh.get_local_rank("dp"), mesh["tp"].size()
        ((1, 1), 0, 1)
    """

    def __init__(
        self, device_type: str, mesh: Given = None, *,
        mesh_dim_names: tuple[str, ...] | None = None, backend_override: object = None,
        _init_backend: bool = True, **options: object,
    ) -> None:  # fmt: skip
        if mesh is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        made = f.tensor(mesh.tolist() if hasattr(mesh, "tolist") else mesh)
        self.mesh: Tensor = made.to(D.int32)
        self.device_type = device_type
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._groups: dict[int, ProcessGroup] = {}
        self._root: DeviceMesh | None = None
        self._sides: tuple[int, ...] = tuple(range(self.mesh.dim()))
        self._flat: dict[str, DeviceMesh] = {}
        _ready()
        size = default_group().size()
        if self.mesh.numel() > size:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {size}, but found "
                f"{self.mesh.numel()} ranks!"
            )
        self._hash: int | None = None
        self._coordinate = self._find(default_group().rank())
        if _init_backend:
            self._make_groups()

    def _find(self, rank: int) -> tuple[int, ...] | None:
        places = (self.mesh == rank).nonzero().tolist()
        return tuple(places[0]) if places else None

    def _make_groups(self) -> None:
        whole = list(range(default_group().size()))
        for side in range(self.mesh.dim()):
            rows = self.mesh.movedim(side, -1).reshape(-1, self.mesh.shape[side]).tolist()
            for ranks in rows:
                if ranks == whole:
                    self._groups[side] = default_group()
                    continue
                group = new_group(ranks)
                if isinstance(group, ProcessGroup) and default_group().rank() in ranks:
                    self._groups[side] = group

    # ---- what it is -------------------------------------------------------------------------
    @property
    def ndim(self) -> int:
        """The number of sides."""
        return self.mesh.dim()

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the sides."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of ranks, in all or along a side."""
        return self.mesh.numel() if mesh_dim is None else self.shape[mesh_dim]

    def get_rank(self) -> int:
        """The rank of this process among all."""
        return default_group().rank()

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Where this rank stands, by side; None where it isn't in the mesh."""
        return self._coordinate

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Where this rank stands along a side.

        Raises:
            RuntimeError: for a mesh of several sides, where none is named.
        """
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
            )
        return self.get_group(mesh_dim).rank()

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of the ranks that stand beside this one along a side.

        Raises:
            RuntimeError: for a mesh of several sides, where none is named.
        """
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        if mesh_dim is None:
            side = 0
        else:
            side = mesh_dim if isinstance(mesh_dim, int) else self._side(mesh_dim)
        if side not in self._groups:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        return self._groups[side]

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of all sides."""
        return [self.get_group(side) for side in range(self.ndim)]

    def _side(self, name: str) -> int:
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if name not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{name}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(name)

    def __repr__(self) -> str:
        names = self.mesh_dim_names
        sides = ", ".join(f"{k}={v}" for k, v in zip(names or (), self.shape))
        text = f"({sides})" if names else f"{self.shape}"
        whole = list(self._whole().mesh.stride())
        strides = tuple(
            () if length == 1 else whole[side] if side >= 0 else 1
            for side, length in zip(self._sides, self.shape)
        )
        return f"DeviceMesh({text}, '{self.device_type}', stride={strides})"

    def _key(self) -> tuple[object, ...]:
        return (tuple(self.mesh.reshape(-1).tolist()), self.shape, self.device_type,
                self.mesh_dim_names)  # fmt: skip

    def __hash__(self) -> int:
        if self._hash is None:  # a mesh keeps its ranks
            self._hash = hash((tuple(self.mesh.reshape(-1).tolist()), self.shape))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DeviceMesh) and self._key() == other._key())

    def __enter__(self) -> DeviceMesh:
        _Active.meshes.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _Active.meshes.pop()

    # ---- parts of it ------------------------------------------------------------------------
    def _whole(self) -> DeviceMesh:
        return self if self._root is None else self._root

    def _get_root_mesh(self) -> DeviceMesh:
        return self._whole()

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = mesh_dim_names
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if wanted == self.mesh_dim_names:
            return self
        root = self._whole()
        if len(wanted) == 1 and wanted[0] in root._flat:
            return root._flat[wanted[0]]
        valid = [*self.mesh_dim_names, *root._flat]
        if any(name not in valid for name in wanted):
            raise KeyError(
                f"Invalid mesh_dim_names {wanted} specified. Valid mesh_dim_names are {valid}."
            )
        sides = [self.mesh_dim_names.index(name) for name in wanted]
        if sides != sorted(sides):
            raise KeyError(
                f"Invalid mesh_dim_names {wanted} specified. "
                "Mesh dim indices should be in ascending order."
            )
        return self._slice(sides, wanted)

    def _slice(self, sides: list[int], names: tuple[str, ...]) -> DeviceMesh:
        place = self._coordinate or (0,) * self.ndim
        ranks = self.mesh[tuple(slice(None) if s in sides else place[s] for s in range(self.ndim))]
        part = DeviceMesh(self.device_type, ranks, mesh_dim_names=names, _init_backend=False)
        part._root = self._whole()
        part._sides = tuple(self._sides[side] for side in sides)
        part._groups = {i: self._groups[s] for i, s in enumerate(sides) if s in self._groups}
        return part

    def _flatten(
        self, mesh_dim_name: str | None = None, backend_override: object = None
    ) -> DeviceMesh:
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name = mesh_dim_name or "_".join(self.mesh_dim_names)
        if self.ndim == 1 and name in self.mesh_dim_names:
            return self
        root = self._whole()
        if name in (root.mesh_dim_names or ()):
            raise ValueError(f"{name} already exists for submesh of the {root}. ")
        if name in root._flat:
            return root._flat[name]
        order = [s for s in range(root.ndim) if s not in self._sides] + list(self._sides)
        rows = root.mesh.permute(order).reshape(-1, self.size()).tolist()
        flat = DeviceMesh(
            self.device_type, self.mesh.reshape(-1), mesh_dim_names=(name,), _init_backend=False
        )
        for ranks in rows:
            group = new_group(ranks)
            if isinstance(group, ProcessGroup) and default_group().rank() in ranks:
                flat._groups[0] = group
        flat._root, flat._sides = root, (-1,)
        root._flat[name] = flat
        return flat

    @staticmethod
    def from_group(
        group: ProcessGroup | list[ProcessGroup],
        device_type: str,
        mesh: Given = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
    ) -> DeviceMesh:
        """The mesh of groups that exist.

        Raises:
            ValueError: where they don't make a mesh.
        """
        given = None if mesh is None else f.tensor(
            mesh.tolist() if hasattr(mesh, "tolist") else mesh
        )  # fmt: skip
        if isinstance(group, ProcessGroup):
            ranks = get_process_group_ranks(group)
            if given is not None and given.tolist() != ranks:
                raise ValueError(f"Invalid mesh {mesh} for ProcessGroup with ranks {ranks}")
            groups, given = [group], f.tensor(ranks)
        else:
            groups = list(group)
            if not groups:
                raise ValueError("Expects at least one ProcessGroup to be passed")
            if given is None:
                raise ValueError("Must pass mesh if passing multiple ProcessGroups")
            if mesh_dim_names is None:
                raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
            if given.dim() != len(groups):
                raise ValueError(
                    "Expects mesh with ndim equal to number of ProcessGroups but got mesh "
                    f"{given.tolist()} and {len(groups)} ProcessGroups"
                )
        made = DeviceMesh(device_type, given, mesh_dim_names=mesh_dim_names, _init_backend=False)
        made._groups = dict(enumerate(groups))
        return made


def active_mesh() -> DeviceMesh:
    """The mesh that a `with` has made the current one.

    Raises:
        RuntimeError: where there is none.
    """
    if not _Active.meshes:
        raise RuntimeError("No device mesh is currently active!")
    return _Active.meshes[-1]


def _ready() -> None:
    """Makes the default group where there is none, as the environment tells it."""
    if is_initialized():
        choose()
        return
    import os

    if "RANK" in os.environ:
        init_process_group()
    else:
        init_process_group("gloo", store=HashStore(), rank=0, world_size=1)


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *,
    mesh_dim_names: tuple[str, ...] | None = None, backend_override: object = None,
) -> DeviceMesh:  # fmt: skip
    """The mesh of that shape of ranks 0, 1, 2, …; makes the default group where there is none.

    Parameters:
        device_type: the kind of devices: "cpu".
        mesh_shape: how many ranks each side has.
        mesh_dim_names: a name for each side, by which parts of the mesh are taken: `mesh["dp"]`.
        backend_override: nothing here: there is one backend.
    Returns: a `DeviceMesh`.
    Raises:
        RuntimeError: for a name given twice, another number of names, more ranks than there are,
            and anything but CPUs.
    Example:
        >>> mesh = dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
        >>> mesh.mesh
        tensor([[0]], dtype=torch.int32)
    """
    shape = tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in "
                f"mesh_dim_names {mesh_dim_names}"
            )
        if len(shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(shape)}."
            )
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    if device_type != "cpu":
        raise RuntimeError(f"there is no {device_type} device here")
    ranks = f.arange(math.prod(shape)).reshape(shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)
