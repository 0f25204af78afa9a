"""`torch._lowrank`: singular values of large matrices, under the module where PyTorch has them."""

from __future__ import annotations

from typing import Any

from .._table import namespace

_f: Any = namespace("").module("the functions of torch")
svd_lowrank = _f.svd_lowrank
pca_lowrank = _f.pca_lowrank

__all__ = ["pca_lowrank", "svd_lowrank"]
