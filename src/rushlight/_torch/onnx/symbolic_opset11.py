"""`torch.onnx.symbolic_opset11`: imported by packages that describe operators for an export."""

from __future__ import annotations

from typing import NoReturn

from ..._base.error_notes import advise


def unsqueeze(g: object, self: object, dim: object) -> NoReturn:
    """Raises NotImplementedError: there is no graph to add a node to."""
    raise advise(
        NotImplementedError("torch.onnx.symbolic_opset11.unsqueeze adds a node to a graph"),
        "there is no export to ONNX in Rushlight",
    )
