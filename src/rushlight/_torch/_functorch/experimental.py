"""`functorch.experimental`: transforms that old programs import from there."""

from __future__ import annotations

from ...func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = ["functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
