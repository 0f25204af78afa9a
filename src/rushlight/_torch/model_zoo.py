"""`torch.utils.model_zoo`: the old name of `torch.hub.load_state_dict_from_url`."""

from __future__ import annotations

from .._base.lazy import lazy
from .hub import load_state_dict_from_url as load_url

__getattr__ = lazy(__name__, {"tqdm": "_torch.hub:tqdm"})

__all__ = ["load_url"]
