"""Meshes of devices, where there is one device: all their sides have length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .process_group import alone, chosen, init_process_group, is_initialized
from .stores import HashStore

if TYPE_CHECKING:
    from .process_group import ProcessGroup


__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Processes laid out along named sides: the one that there is."""

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: tuple[str, ...] | None = None,
        **options: object,
    ) -> None:  # fmt: skip
        alone("DeviceMesh")
        self.device_type = device_type
        self.mesh = mesh
        self.mesh_dim_names = mesh_dim_names
        self.ndim = len(mesh_dim_names) if mesh_dim_names else 1

    def size(self, mesh_dim: int | None = None) -> int:
        """1: the number of processes."""
        return 1

    def get_rank(self) -> int:
        """0: the only process."""
        return 0

    def get_local_rank(self, mesh_dim: object = None) -> int:
        """0: the only process."""
        return 0

    def get_group(self, mesh_dim: object = None) -> ProcessGroup:
        """The default group."""
        return chosen()

    def get_coordinate(self) -> list[int]:
        """Where this process stands: at the only place."""
        return [0] * self.ndim

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if any(name not in (self.mesh_dim_names or ()) for name in wanted):
            raise KeyError(f"Invalid mesh_dim_names {wanted} specified.")
        return DeviceMesh(self.device_type, self.mesh, mesh_dim_names=wanted)


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *,
    mesh_dim_names: tuple[str, ...] | None = None, **options: object,
) -> DeviceMesh:  # fmt: skip
    """A mesh of one device.

    Raises:
        RuntimeError: for a mesh of more, and for anything but CPUs.
    """
    if any(side != 1 for side in mesh_shape):
        raise RuntimeError(f"a mesh of shape {tuple(mesh_shape)} needs more than one process")
    if device_type != "cpu":
        raise RuntimeError(f"there is no {device_type} device here")
    if not is_initialized():
        init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    return DeviceMesh(device_type, mesh_dim_names=mesh_dim_names)
