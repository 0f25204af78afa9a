"""Steps whose results, shapes or errors depend on values: warmed on some, called with others."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from tests.compile.twins import alike, seen

pytestmark = pytest.mark.slow

pytestmark = pytest.mark.filterwarnings("ignore")

MATRIX = [
    [[2.0, 0.5, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]],
    [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0] * 3] * 3,
    [[1.0, 0.0, 0.0]] * 3,
    [[5.0, 0.1, 0.2], [0.1, 6.0, 0.3], [0.2, 0.3, 7.0]],
]
FLOATS = [[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.5, 9.0], [2.0, 2.0, 2.0]]
CHANCES = [[0.5, 0.2, 0.3], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.1, 0.1, 0.1], [-1.0, 2.0, 0.5]]
INTS = [[1, 2, 0], [0, 1, 1], [0, 0, 0], [2, 2, 2], [1, 5, 0], [-1, 0, 2], [3, 1, 2]]
LENGTHS = [[3, 2, 1], [3, 3, 3], [1, 1, 1], [2, 2, 1], [3, 1, 2], [4, 1, 1], [0, 0, 0]]

Step = Callable[[Any], Any]
TABLE = torch.arange(12.0).reshape(4, 3) / 3

OF_FLOATS: dict[str, Step] = {
    "how many are nonzero": lambda x: x * len(x.nonzero()),
    "nonzero": lambda x: x.nonzero(),
    "nonzero as a tuple": lambda x: x[x.nonzero(as_tuple=True)],
    "sum at places": lambda x: x[(x > 0).nonzero().squeeze()].sum(),
    "argwhere": lambda x: torch.argwhere(x > 0.5).sum(),
    "where of a condition": lambda x: torch.where(x > 1)[0] * 2,
    "nonzero_static": lambda x: x.nonzero_static(size=2),
    "mask": lambda x: x[x > 0.5] * 2,
    "mask of bytes": lambda x: x[(x > 0.5).byte()] + 1,
    "mask and sum": lambda x: x[x > 0.5].sum(),
    "mask of rows": lambda x: TABLE[:3][x > 0.5],
    "write by a mask": lambda x: x.clone().__setitem__(x > 0.5, 7.0),
    "write values by a mask": lambda x: [y := x.clone(), y.__setitem__(x > 0.5, x[:2])][0],
    "masked_select": lambda x: x.masked_select(x > 0.5).mean(),
    "masked_scatter": lambda x: x.masked_scatter(x > 0.5, x + 1),
    "unique": lambda x: x.unique(),
    "unique and counts": lambda x: torch.unique(x, return_counts=True, return_inverse=True),
    "unique_consecutive": lambda x: torch.unique_consecutive(x),
    "unique rows": lambda x: torch.unique(torch.stack([x, x]), dim=0),
    "histc": lambda x: torch.histc(x, 4),
    "histogram": lambda x: torch.histogram(x, 3),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([0.5, 1.5])),
    "searchsorted": lambda x: torch.searchsorted(x.sort()[0], torch.tensor([0.5, 1.5])),
    "isin": lambda x: torch.isin(x, torch.tensor([0.0, 2.0])),
    "combinations": lambda x: torch.combinations(x),
    "combinations of a mask": lambda x: torch.combinations(x[x > 0]),
    "expand by a number": lambda x: x.expand(int(x.abs().sum()) + 1, 3),
    "repeat by a number": lambda x: x.repeat(int(x.abs().max())),
    "arange by a number": lambda x: torch.arange(int(x.abs().max())),
    "arange of a tensor": lambda x: torch.arange(x.abs().max()),
    "zeros by a number": lambda x: torch.zeros(int(x[1].abs())) + 1,
    "full of a tensor": lambda x: torch.full((2,), x[0].item()),
    "tensor of a list": lambda x: torch.tensor(x.tolist()) * 2,
    "linspace of tensors": lambda x: torch.linspace(x[0], x[1], 3),
    "a number in arithmetic": lambda x: x * x.sum().item() + float(x[0]),
    "range of a number": lambda x: sum(x * k for k in range(int(x[1].abs()) + 1)),
    "an index by a number": lambda x: x[int(x[1].abs()) % 3],
    "an index by argmax": lambda x: x[x.argmax()],
    "a slice by a number": lambda x: x[int(x[0].abs()) :],
    "narrow by a tensor": lambda x: x.narrow(0, x.argmin(), 1),
    "split by numbers": lambda x: x.split([int(x[0].abs()), 3 - int(x[0].abs())]),
    "tensor_split": lambda x: x.tensor_split(x.abs().long().clamp(max=3)),
    "quantile": lambda x: torch.quantile(x, x.sigmoid()[:2]),
    "quantile beyond": lambda x: torch.quantile(TABLE[0], x / 3),
    "median": lambda x: x.median(),
    "mode": lambda x: x.mode(),
    "equal": lambda x: x * 2 if torch.equal(x, torch.zeros(3)) else x - 1,
    "allclose": lambda x: x * 2 if torch.allclose(x, torch.zeros(3)) else x - 1,
    "a branch on any": lambda x: x * 2 if (x < 0).any() else x - 1,
    "a branch on two": lambda x: x * 2 if x[0] > x[1] else x - 1 if x[2] > 2 else x + 5,
    "in": lambda x: x * 2 if 2.0 in x else x,
    "min and max of python": lambda x: max(x) - min(x),
    "sorted": lambda x: sorted(x, key=float)[0] * 2,
    "to_sparse": lambda x: x.to_sparse().coalesce().values() * 2,
    "sparse sum": lambda x: x.to_sparse().to_dense() + 1,
    "a number as text": lambda x: x * len(str(x[0].item())),
    "numpy": lambda x: x * x.numpy().max(),
    "round of a number": lambda x: x * round(x[2].item()),
    "std by a tensor": lambda x: torch.normal(0.0, x[0].abs() + 0.1, (2,)),
    "normal of tensors": lambda x: torch.normal(x, x.abs() + 0.1),
    "log of what is negative": lambda x: x.log(),
    "gaussian loss": lambda x: F.gaussian_nll_loss(x, x + 1, x),
    "cdist": lambda x: torch.cdist(x[None], TABLE),
    "cosine": lambda x: F.cosine_similarity(x, TABLE[1], dim=0, eps=1e-3),
    "pairwise": lambda x: F.pairwise_distance(x[None], TABLE[:1]),
    "normalize": lambda x: F.normalize(x, dim=0),
    "grid_sample": lambda x: F.grid_sample(TABLE[None, None], x.repeat(2)[None, None, None, :2]),
    "corrcoef": lambda x: torch.corrcoef(torch.stack([x, x * x])),
    "trapezoid": lambda x: torch.trapezoid(x, x * 2),
    "clamp by tensors": lambda x: TABLE.clamp(x.min(), x.max()),
    "lerp by a number": lambda x: torch.lerp(x, x * 2, x[0].item()),
    "add alpha": lambda x: torch.add(x, x, alpha=x[0].item()),
    "pow by a number": lambda x: x.abs() ** x[1].item(),
    "one element": lambda x: bool(x[0]) * x,
    "roll by a number": lambda x: x.roll(int(x[0].abs())),
    "eye by a number": lambda x: torch.eye(int(x[1].abs()) + 1),
    "tril by a number": lambda x: TABLE.tril(int(x[0])),
    "cat of parts": lambda x: torch.cat([x[x > 1], x[x <= 1]]),
    "multi_margin": lambda x: F.multilabel_margin_loss(x, torch.tensor([1, 0, -1])),
    "dropout by a number": lambda x: F.dropout(x, float(x[0].abs().clamp(0, 1))),
    "poisson": lambda x: torch.poisson(x.abs()),
    "exponential": lambda x: x.clone().exponential_(1.5),
    "unravel": lambda x: torch.unravel_index(x.abs().long(), (5, 5)),
    "frexp": lambda x: torch.frexp(x),
    "is_nonzero": lambda x: x * 2 if torch.is_nonzero(x[0]) else x,
    "count_nonzero": lambda x: x * torch.count_nonzero(x),
    "topk by a number": lambda x: x.topk(int(x[0].abs().clamp(1, 3)))[0],
    "kthvalue by a number": lambda x: x.kthvalue(int(x[0].abs().clamp(1, 3)))[0],
    "bincount": lambda x: x.abs().long().bincount(),
    "reshape by a number": lambda x: TABLE.reshape(int(x[1].abs()) + 1, -1),
    "nanmean": lambda x: (x / x).nanmean(),
    "block": lambda x: torch.block_diag(x[x > 0][None], x[None]),
    "meshgrid": lambda x: torch.meshgrid(x[x > 0], x, indexing="ij"),
    "cartesian": lambda x: torch.cartesian_prod(x, x[x > 0]),
    "pad by a number": lambda x: F.pad(x, (0, int(x[0].abs()))),
    "interpolate by a number": lambda x: F.interpolate(x[None, None], size=int(x[1].abs()) + 1),
}
OF_CHANCES: dict[str, Step] = {
    "bernoulli": lambda p: torch.bernoulli(p),
    "bernoulli_ by a tensor": lambda p: torch.zeros(3).bernoulli_(p),
    "bernoulli unused": lambda p: [torch.bernoulli(p), p * 2][1],
    "multinomial": lambda p: torch.multinomial(p, 1),
    "multinomial again": lambda p: torch.multinomial(p, 3, replacement=True),
    "multinomial unused": lambda p: [torch.multinomial(p, 1), p * 2][1],
    "binomial": lambda p: torch.binomial(torch.full((3,), 5.0), p),
    "binary loss": lambda p: F.binary_cross_entropy(p, torch.ones(3)),
    "gumbel": lambda p: F.gumbel_softmax(p, hard=True),
    "categorical": lambda p: torch.distributions.Categorical(p).sample(),
    "random_ and a mask": lambda p: torch.rand(3)[p > 0.15],
    "rrelu": lambda p: F.rrelu(p - 0.2, training=True),
    "dirichlet": lambda p: torch._sample_dirichlet(p.abs() + 0.1),
    "gamma": lambda p: torch._standard_gamma(p.abs() + 0.1),
}  # fmt: skip
OF_INTS: dict[str, Step] = {
    "one_hot": lambda n: F.one_hot(n),
    "one_hot of four": lambda n: F.one_hot(n, 4),
    "bincount": lambda n: n.bincount(),
    "bincount of four": lambda n: torch.bincount(n, minlength=4),
    "bincount weighted": lambda n: torch.bincount(n, TABLE[0]),
    "repeat_interleave": lambda n: TABLE[0].repeat_interleave(n),
    "repeat_interleave alone": lambda n: torch.repeat_interleave(n),
    "rows by index": lambda n: TABLE[n] * 2,
    "index_select": lambda n: TABLE.index_select(0, n),
    "gather": lambda n: TABLE.gather(0, n[None]),
    "take": lambda n: TABLE.take(n),
    "embedding": lambda n: F.embedding(n, TABLE),
    "embedding_bag": lambda n: F.embedding_bag(torch.arange(3), TABLE, n.sort()[0] * 0 + n),
    "scatter": lambda n: torch.zeros(4).scatter(0, n, 1.0),
    "index_add": lambda n: torch.zeros(4, 3).index_add(0, n, TABLE[:3]),
    "index_put_": lambda n: torch.zeros(4).index_put_((n,), torch.ones(3), accumulate=True),
    "index_fill": lambda n: TABLE.index_fill(0, n, 9.0),
    "cross entropy": lambda n: F.cross_entropy(TABLE[:3], n),
    "nll": lambda n: F.nll_loss(TABLE[:3], n),
    "multi_margin": lambda n: F.multi_margin_loss(TABLE[:3], n),
    "cross entropy, ignored": lambda n: F.cross_entropy(TABLE[:3], n, ignore_index=2),
    "ctc": lambda n: F.ctc_loss(TABLE[:, None].log_softmax(-1), n[None, :1], (4,), (1,)),
    "ctc of lengths": lambda n: F.ctc_loss(
        TABLE[:, None].expand(4, 3, 3).log_softmax(-1), torch.ones(3, 2, dtype=torch.int64),
        torch.full((3,), 4), n),
    "integer power": lambda n: torch.tensor([2, 3, 4]) ** n,
    "shift": lambda n: torch.tensor([2, 3, 4]) << n.abs(),
    "integer division": lambda n: torch.div(6, n, rounding_mode="floor"),
    "remainder": lambda n: 7 % n,
    "gcd": lambda n: torch.gcd(n, torch.tensor(6)),
    "combinations": lambda n: torch.combinations(n[n > 0]),
    "split": lambda n: TABLE.reshape(-1).split(n.tolist()) if int(n.sum()) == 12 else n,
    "slices": lambda n: TABLE.reshape(-1)[n[0] : n[1] + 2],
    "loop": lambda n: sum(TABLE[0] * k for k in n.tolist()),
    "bool of each": lambda n: [k for k in range(3) if n[k]],
    "segment": lambda n: torch.segment_reduce(TABLE.reshape(-1)[: int(n.sum())], "sum", lengths=n),
    "put": lambda n: TABLE.clone().put_(n, torch.ones(3)),
    "quantized": lambda n: torch.fake_quantize_per_channel_affine(
        TABLE[:, :3], torch.ones(3), n.int() * 100, 1, 0, 255),
    "seed": lambda n: torch.randn(2, generator=torch.Generator().manual_seed(int(n[0].abs()))),
}  # fmt: skip
OF_LENGTHS: dict[str, Step] = {
    "packed": lambda n: nn.utils.rnn.pack_padded_sequence(TABLE[:3, :, None], n, True).data,
    "packed, unsorted": lambda n: nn.utils.rnn.pad_packed_sequence(
        nn.utils.rnn.pack_padded_sequence(TABLE[:3, :, None], n, True, enforce_sorted=False),
        batch_first=True),
    "padded": lambda n: nn.utils.rnn.pad_sequence([torch.ones(k) for k in n.tolist()]),
    "mask of lengths": lambda n: (torch.arange(4)[None] < n[:, None]).float(),
    "split with sizes": lambda n: torch.arange(6.0).split_with_sizes(n.tolist()),
}  # fmt: skip
OF_MATRICES: dict[str, Step] = {
    "cholesky": lambda a: torch.linalg.cholesky(a),
    "cholesky_ex": lambda a: torch.linalg.cholesky_ex(a),
    "inverse": lambda a: torch.linalg.inv(a),
    "solve": lambda a: torch.linalg.solve(a, torch.ones(3)),
    "lstsq": lambda a: torch.linalg.lstsq(a[:, :2], a[:, 2:], driver="gelsd"),
    "lstsq plain": lambda a: torch.linalg.lstsq(a[:, :2], a[:, 2:]),
    "rank": lambda a: torch.linalg.matrix_rank(a),
    "ldl": lambda a: torch.linalg.ldl_factor(a),
    "lu": lambda a: torch.linalg.lu_factor(a),
    "qr": lambda a: torch.linalg.qr(a)[1].abs(),
    "logdet": lambda a: torch.logdet(a),
    "slogdet": lambda a: torch.linalg.slogdet(a),
    "power": lambda a: torch.linalg.matrix_power(a, -1),
    "triangular": lambda a: torch.linalg.solve_triangular(a, a, upper=True),
    "eigenvalues": lambda a: torch.linalg.eigvalsh(a),
    "svd": lambda a: torch.linalg.svdvals(a),
    "pinv": lambda a: torch.linalg.pinv(a),
    "matrix_exp": lambda a: torch.matrix_exp(a * 0.1),
    "cholesky_inverse": lambda a: torch.cholesky_inverse(a),
}  # fmt: skip
GROUPS = {
    "floats": (OF_FLOATS, FLOATS, torch.float32), "chances": (OF_CHANCES, CHANCES, torch.float32),
    "ints": (OF_INTS, INTS, torch.int64), "lengths": (OF_LENGTHS, LENGTHS, torch.int64),
    "matrices": (OF_MATRICES, MATRIX, torch.float32),
}  # fmt: skip
CASES = [
    (group, name) for group, (table, _, _) in GROUPS.items() for name in table
]  # fmt: skip


def called(step: Any, values: Any, dtype: Any, learns: bool) -> Any:
    """All that a call lets one see: result, gradient, what it has written, what was drawn."""
    torch.manual_seed(3)
    x = torch.tensor(values, dtype=dtype, requires_grad=learns)
    try:
        found = seen(step(x))
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return found, seen(x.grad), seen(x), torch.get_rng_state().tolist()


def learning(step: Any) -> Any:
    """The step with a backward inside."""

    def whole(x: Any) -> Any:
        found = step(x)
        parts = found if isinstance(found, (list, tuple)) else [found]
        for part in parts:
            if isinstance(part, torch.Tensor) and part.requires_grad:
                part.sum().backward()
                return part.detach()
        return found

    return whole


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("learns", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_step_warmed_on_some_values_is_right_for_others(
    group: str, name: str, learns: bool, native: bool
) -> None:
    table, values, dtype = GROUPS[group]
    if learns and dtype is torch.int64:
        return
    step = learning(table[name]) if learns else table[name]
    compiled = torch.compile(step, options={"native": native})
    for start in range(2):
        for _ in range(3):
            called(compiled, values[start], dtype, learns)
        for other in values if start else values[::-1]:
            eager = called(step, copy.deepcopy(other), dtype, learns)
            found = called(compiled, copy.deepcopy(other), dtype, learns)
            assert alike(eager, found, 1e-4 if native else 0.0), (
                f"warmed on {values[start]}, called with {other}:\n"
                f"eager    {eager[:3]}\ncompiled {found[:3]}\n{compiled.explain()}"
            )


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
def test_gradients_of_a_recorded_call_have_their_own_type(native: bool) -> None:
    compiled = torch.compile(lambda x: x * x.mean().item() * 2, options={"native": native})
    for k in range(6):
        x = torch.full((3,), float(k), requires_grad=True)
        compiled(x).sum().backward()
        assert seen(x.grad) == seen(torch.full((3,), 2.0 * k))
