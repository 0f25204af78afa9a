"""Ready-made parametrizations: orthogonal matrices, weight norm, spectral norm."""

from enum import Enum, auto
from typing import Any

from .. import functional as F
from .._ground import Tensor, dtypes, f, linalg, no_grad
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ._norms import norm_except_dim, weight_of
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_EPS = {dtypes.float64: 2.0**-52, dtypes.complex128: 2.0**-52}


def _is_orthogonal(Q: Tensor, eps: float | None = None) -> bool:
    n, k = Q.size(-2), Q.size(-1)
    identity = f.eye(k, dtype=Q.dtype, device=Q.device)
    bound = 10.0 * n * _EPS.get(Q.dtype, 2.0**-23) if eps is None else eps
    return bool(f.allclose(Q.mH @ Q, identity, atol=bound))


def _make_orthogonal(A: Tensor) -> Tensor:
    """The orthogonal factor of A, with the signs that make a positive diagonal of the other."""
    reflections, tau = f.geqrf(A)
    q: Tensor = linalg.householder_product(reflections, tau)
    return q * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, where there are fewer), from any matrix.

    With trivialization the map starts at the matrix `base`, so that any orthogonal matrix can be
    assigned.
    """

    base: Any

    def __init__(
        self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        n, k = X.size(-2), X.size(-1)
        wide = n < k
        if wide:
            X, n, k = X.mT, k, n
        q: Tensor
        if self.orthogonal_map == _OrthMaps.householder:
            a = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a.conj()).sum(dim=-2))
            q = linalg.householder_product(a, tau)
            q = q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                zeros = X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)
                X = f.cat([X, zeros], dim=-1)
            skew = X - X.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                q = f.matrix_exp(skew)
            else:
                one = f.eye(n, dtype=skew.dtype, device=skew.device)
                q = linalg.solve(f.add(one, skew, alpha=-0.5), f.add(one, skew, alpha=0.5))
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """What the map sends to the orthogonal matrix nearest to Q, in the sense of QR."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {Q.shape}."
            )
        given = Q
        n, k = Q.size(-2), Q.size(-1)
        wide = n < k
        if wide:
            Q, n, k = Q.mT, k, n
        if not hasattr(self, "base"):
            if self.orthogonal_map != _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential "
                    "or the Cayley parametrizations when use_trivialization=False."
                )
            reflections, tau = f.geqrf(Q)
            diagonal = reflections.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            # Where no reflection was needed, LAPACK leaves the sign to the diagonal.
            diagonal[tau == 0.0] *= -1
            return reflections.mT if wide else reflections
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            shape = (*Q.shape[:-2], n, n - k)
            more = f.randn(shape, dtype=Q.dtype, device=Q.device)
            Q = _make_orthogonal(f.cat([Q, more], dim=-1))
        self.base = Q
        start: Tensor = f.zeros_like(given)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _tensor_of(module: Module, name: str) -> Tensor:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keeps a matrix of the module orthogonal; returns the module.

    `orthogonal_map`: "matrix_exp", "cayley" or "householder"; by default the first for square
    matrices, the last for others.
    Raises: ValueError for a tensor that is no matrix, and for unknown maps.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module


class _WeightNorm(Module):
    """g v / |v|: length and direction of a weight's slices, apart."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The lengths, and the weight itself for the directions."""
        return norm_except_dim(weight, 2, self.dim), weight


def _load_old_names(module: Module, name: str) -> None:
    """Lets a state dictionary of the older `weight_norm` be loaded."""

    def rename(state: Any, prefix: str, *rest: object) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state for key in old):
            for i, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{i}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Parametrizes a weight by the lengths and directions of its slices; returns the module."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    _load_old_names(module, name)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iterations keep track of."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but "
                f"got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            h, w = matrix.size()
            u = matrix.new_empty(h).normal_(0, 1)
            v = matrix.new_empty(w).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            rest = (d for d in range(weight.dim()) if d != self.dim)
            weight = weight.permute(self.dim, *rest)
        return weight.flatten(1)

    def _power_method(self, weight_mat: Tensor, n_power_iterations: int) -> None:
        with no_grad():
            for _ in range(n_power_iterations):
                u = F.normalize(f.mv(weight_mat, self._v), dim=0, eps=self.eps)
                self._u.copy_(u)
                v = F.normalize(f.mv(weight_mat.H, self._u), dim=0, eps=self.eps)
                self._v.copy_(v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: the buffers change in place while a graph may still need these values.
        u = self._u.clone()
        v = self._v.clone()
        sigma = f.vdot(u, f.mv(matrix, v))
        return weight / sigma

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: it is taken to have the norm one."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value; returns the module.

    Source: T. Miyato et al., Spectral normalization for GANs (2018).
    """
    weight = _tensor_of(module, name)
    if dim is None:
        transposed = isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
        dim = 1 if transposed else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    register_parametrization(module, name, made)
    return module
