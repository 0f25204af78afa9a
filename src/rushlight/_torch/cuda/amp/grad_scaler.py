"""`torch.cuda.amp.GradScaler`, the former name of `torch.amp.GradScaler("cuda")`."""

from __future__ import annotations

from ....amp.former import FormerGradScaler

__all__ = ["GradScaler"]


class GradScaler(FormerGradScaler):
    """`torch.amp.GradScaler("cuda", …)`, with a warning that this is its name now."""

    _kind = "cuda"
