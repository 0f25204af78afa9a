"""`torch.distributed.tensor.device_mesh`: meshes under the name of the tensors that lie on them."""

from __future__ import annotations

from ..device_mesh import DeviceMesh, init_device_mesh

__all__ = ["DeviceMesh", "init_device_mesh"]
