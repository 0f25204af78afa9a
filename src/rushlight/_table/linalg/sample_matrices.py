"""Matrices that rows of linear algebra are tried with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


def regular(mk: Any, *shape: int) -> Tensor:
    """Well-conditioned square matrices."""
    x = mk(*shape)
    return x * 0.3 + table("eye")(shape[-1], dtype=x.dtype)


def hermitian(mk: Any, *shape: int) -> Tensor:
    """Hermitian matrices with eigenvalues that are far apart."""
    x = mk(*shape) * 0.3
    far = table("diag")(table("arange")(1, shape[-1] + 1)).to(x.dtype)
    return (x + x.mH) / 2 + far


def definite(mk: object, *shape: int) -> Tensor:
    """Positive-definite matrices."""
    x = regular(mk, *shape)
    s = x @ x.mH
    return (s + s.mH) / 2 + table("eye")(shape[-1], dtype=x.dtype)


def lower(mk: object, *shape: int) -> Tensor:
    """Lower triangular matrices, none of whose diagonal elements is small."""
    return table("tril")(regular(mk, *shape))


def cholesky_factor(mk: object, *shape: int) -> Tensor:
    """Lower triangular matrices with a real diagonal, as Cholesky factors have it."""
    x = lower(mk, *shape)
    if not x.is_complex():
        return x
    diagonal = table("diagonal")(x, 0, -2, -1)
    return x - table("diag_embed")(diagonal.imag * 1j)
