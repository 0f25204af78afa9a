"""Reductions and scans: values, dtypes, keepdim, ties, gradients."""

import torch
from observation import each, near, outcome


def _x() -> torch.Tensor:
    return torch.tensor([[1.0, 5.0, 3.0], [4.0, 2.0, 5.0]])


def sums_and_products() -> None:
    x = _x()
    each(
        all=lambda: x.sum(),
        dim=lambda: x.sum(0),
        keep=lambda: x.sum(1, keepdim=True),
        many=lambda: x.sum((0, 1)),
        dtype=lambda: x.sum(dtype=torch.float64),
        ints=lambda: x.int().sum().dtype,
        bools=lambda: (x > 2).sum(),
        axis=lambda: x.sum(axis=1),
        prod=lambda: x.prod(),
        prod_dim=lambda: x.prod(1, keepdim=True),
        nansum=lambda: torch.tensor([1.0, float("nan")]).nansum(),
        empty_tuple=lambda: x.sum(()),
        none=lambda: x.sum(None),
        count=lambda: x.count_nonzero(1),
        out=lambda: torch.sum(x, 0, out=torch.empty(3)),
    )


def means_and_spreads() -> None:
    x = _x()
    each(
        mean=lambda: x.mean(),
        dim=lambda: x.mean(1),
        keep=lambda: x.mean((0, 1), keepdim=True),
        var=lambda: x.var(),
        biased=lambda: x.var(1, unbiased=False),
        correction=lambda: x.var(0, correction=0),
        std=lambda: x.std(1),
        std_all=lambda: x.std(unbiased=False),
        both=lambda: torch.var_mean(x, 1),
        std_mean=lambda: torch.std_mean(x),
        nanmean=lambda: torch.tensor([1.0, float("nan")]).nanmean(),
        cov=lambda: torch.cov(x),
        corr=lambda: torch.corrcoef(x),
        one=lambda: torch.ones(1).std(),
    )


def extremes() -> None:
    x = _x()
    each(
        max=lambda: x.max(),
        dim=lambda: x.max(1),
        keep=lambda: x.min(0, keepdim=True),
        amax=lambda: x.amax((0, 1)),
        amin=lambda: x.amin(),
        arg=lambda: x.argmax(),
        arg_dim=lambda: x.argmin(1),
        arg_keep=lambda: x.argmax(1, keepdim=True),
        pair=lambda: x.aminmax(),
        pair_dim=lambda: torch.aminmax(x, dim=1),
        elementwise=lambda: torch.max(x, torch.tensor(3.0)),
        values=lambda: x.max(1).values,
        named=lambda: x.max(1)._fields if hasattr(x.max(1), "_fields") else None,
        nan=lambda: torch.tensor([1.0, float("nan")]).max(),
        unpack=lambda: [t.shape for t in x.max(1)],
    )


def medians_and_quantiles() -> None:
    x = _x()
    each(
        median=lambda: x.median(),
        dim=lambda: x.median(1),
        nan=lambda: torch.tensor([1.0, float("nan"), 2.0]).nanmedian(),
        mode=lambda: torch.tensor([1, 2, 2, 3]).mode(),
        kth=lambda: x.kthvalue(2),
        quantile=lambda: x.quantile(0.25),
        many=lambda: x.quantile(torch.tensor([0.0, 0.5, 1.0]), dim=1),
        nearest=lambda: x.quantile(0.4, interpolation="nearest"),
        histc=lambda: torch.histc(x, 4, 1, 5),
        bincount=lambda: torch.bincount(torch.tensor([0, 2, 2])),
        weights=lambda: torch.bincount(torch.tensor([0, 2]), torch.tensor([0.5, 1.5])),
        histogram=lambda: torch.histogram(x, 2),
    )


def logic() -> None:
    b = torch.tensor([[True, False], [True, True]])
    each(
        all=lambda: b.all(),
        any=lambda: b.any(),
        dim=lambda: b.all(1),
        keep=lambda: b.any(0, keepdim=True),
        ints=lambda: torch.tensor([0, 2]).all(),
        byte=lambda: torch.tensor([0, 2], dtype=torch.uint8).any(),
        equal=lambda: torch.equal(b, b),
        allclose=lambda: torch.allclose(torch.ones(2), torch.ones(2) + 1e-9),
        isclose=lambda: torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])),
        nan=lambda: torch.allclose(
            torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True
        ),
        unequal_shapes=lambda: torch.equal(b, b[0]),
    )


def scans() -> None:
    x = _x()
    each(
        cumsum=lambda: x.cumsum(1),
        cumprod=lambda: x.cumprod(0),
        cummax=lambda: x.cummax(1),
        cummin=lambda: x.cummin(1),
        logcumsumexp=lambda: x.logcumsumexp(1),
        diff=lambda: x.diff(),
        diff2=lambda: x.diff(n=2),
        dtype=lambda: x.int().cumsum(0).dtype,
        trapz=lambda: torch.trapezoid(x),
        cumtrapz=lambda: torch.cumulative_trapezoid(x, dx=0.5),
        gradient=lambda: torch.gradient(torch.tensor([1.0, 4.0, 9.0])),
    )


def norms_and_distances() -> None:
    x = _x()
    each(
        norm=lambda: x.norm(),
        one=lambda: x.norm(1),
        inf=lambda: x.norm(float("inf")),
        dim=lambda: x.norm(dim=1),
        keep=lambda: x.norm(2, 1, True),
        zero=lambda: x.norm(0),
        fro=lambda: torch.norm(x, "fro"),
        nuc=lambda: near(torch.norm(x, "nuc")),
        vector=lambda: torch.linalg.vector_norm(x, 3),
        matrix=lambda: near(torch.linalg.matrix_norm(x, 2)),
        dist=lambda: torch.dist(x, x * 2, 1),
        cdist=lambda: torch.cdist(x, x + 1),
        pair=lambda: torch.nn.functional.pairwise_distance(x, x + 1),
        half=lambda: x.norm(0.5),
        cosine=lambda: torch.cosine_similarity(x, x * 2),
        renorm=lambda: x.renorm(2, 0, 1.0),
    )


def logsumexp_and_softmax() -> None:
    x = _x()
    each(
        lse=lambda: x.logsumexp(1),
        many=lambda: x.logsumexp((0, 1)),
        big=lambda: torch.tensor([1000.0, 1000.0]).logsumexp(0),
        inf=lambda: torch.tensor([float("-inf"), float("-inf")]).logsumexp(0),
        softmax=lambda: x.softmax(1),
        log=lambda: x.log_softmax(0),
        dtype=lambda: torch.softmax(torch.tensor([1, 2]), 0, dtype=torch.float64),
        inf_row=lambda: torch.tensor([float("-inf"), float("-inf")]).softmax(0),
        scalar=lambda: torch.tensor(3.0).softmax(0),
    )


def gradients_of_reductions() -> None:
    for f in (
        lambda x: x.sum(),
        lambda x: x.sum(1)[0],
        lambda x: x.mean(),
        lambda x: x.mean(0)[1],
        lambda x: x.prod(),
        lambda x: x.prod(1)[0],
        lambda x: x.var(),
        lambda x: x.std(1).sum(),
        lambda x: x.norm(),
        lambda x: x.norm(1),
        lambda x: x.logsumexp(1).sum(),
        lambda x: x.cumsum(1)[0, 2],
        lambda x: x.cumprod(1).sum(),
        lambda x: x.softmax(1)[0, 0],
        lambda x: x.median(),
        lambda x: x.quantile(0.3),
        lambda x: x.diff().pow(2).sum(),
        lambda x: x.cummax(1)[0].sum(),
        lambda x: x.renorm(2, 0, 1.0).sum(),
        lambda x: torch.var_mean(x)[1],
    ):
        x = _x().requires_grad_()
        f(x).backward()
        print(near(x.grad))


def gradients_at_ties() -> None:
    for f in (
        lambda x: x.max(),
        lambda x: x.min(),
        lambda x: x.amax(),
        lambda x: x.amax(0).sum(),
        lambda x: x.max(1).values.sum(),
        lambda x: x.min(0)[0].sum(),
        lambda x: x.median(),
        lambda x: torch.maximum(x, torch.ones(2, 2)).sum(),
        lambda x: x.norm(float("inf")),
        lambda x: x.sort(1)[0][0, 0],
        lambda x: x.abs().sum(),
        lambda x: x.clamp(1, 2).sum(),
        lambda x: x.relu().sum(),
        lambda x: torch.aminmax(x).max,
    ):
        x = torch.ones(2, 2, requires_grad=True)
        f(x).backward()
        print(near(x.grad))


def gradients_at_zero() -> None:
    for f in (
        lambda x: x.norm(),
        lambda x: x.norm(1),
        lambda x: x.prod(),
        lambda x: x.abs().sum(),
        lambda x: x.sqrt().sum(),
        lambda x: (x**0).sum(),
        lambda x: (x**2).sum(),
        lambda x: (0**x).sum(),
        lambda x: x.relu().sum(),
        lambda x: x.cumprod(0).sum(),
        lambda x: torch.sinc(x).sum(),
        lambda x: torch.atan2(x, x).sum(),
        lambda x: torch.xlogy(x, x).sum(),
        lambda x: x.std(),
    ):
        x = torch.zeros(3, requires_grad=True)
        f(x).backward()
        print(near(x.grad))


def gradients_of_products_with_zeros() -> None:
    for values in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0]):
        x = torch.tensor(values, requires_grad=True)
        print(
            near(torch.autograd.grad(x.prod(), x)),
            near(torch.autograd.grad(x.cumprod(0).sum(), x)),
            near(torch.autograd.grad(x.prod(0, keepdim=True), x)),
        )


def einsum_in_its_forms() -> None:
    a, b = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(3, 4)
    each(
        mm=lambda: torch.einsum("ij,jk->ik", a, b),
        implicit=lambda: torch.einsum("ij,jk", a, b),
        trace=lambda: torch.einsum("ii", a[:, :2]),
        diagonal=lambda: torch.einsum("ii->i", a[:, :2]),
        sums=lambda: torch.einsum("ij->", a),
        t=lambda: torch.einsum("ij->ji", a),
        outer=lambda: torch.einsum("i,j->ij", a[0], a[1]),
        batch=lambda: (
            torch.einsum("...ij,...jk->...ik", torch.ones(2, 2, 3), torch.ones(3, 4)).shape
        ),
        three=lambda: torch.einsum("ij,jk,kl->il", a, b, torch.ones(4, 2)),
        listed=lambda: torch.einsum("ij,ij->i", [a, a]),
        upper=lambda: torch.einsum("aB,Bc->ac", a, b),
        sub=lambda: torch.einsum(a, [0, 1], b, [1, 2], [0, 2]),
    )


def matrix_products() -> None:
    a = torch.arange(6.0).view(2, 3)
    each(
        mm=lambda: a @ a.T,
        mv=lambda: a @ torch.ones(3),
        vm=lambda: torch.ones(2) @ a,
        dot=lambda: torch.ones(3) @ torch.ones(3),
        batch=lambda: (torch.ones(4, 2, 3) @ a.T).shape,
        broadcast=lambda: (torch.ones(4, 1, 2, 3) @ torch.ones(5, 3, 2)).shape,
        addmm=lambda: torch.addmm(torch.ones(2, 2), a, a.T, beta=2, alpha=0.5),
        baddbmm=lambda: torch.baddbmm(torch.ones(1, 2, 2), a[None], a.T[None]),
        ints=lambda: a.long() @ a.long().T,
        chain=lambda: (
            torch.chain_matmul(a, a.T, a) if False else torch.linalg.multi_dot([a, a.T, a])
        ),
        power=lambda: torch.linalg.matrix_power(a[:, :2], 3),
        tensordot=lambda: torch.tensordot(a, a, ([1], [1])),
        inner=lambda: torch.inner(a, a),
        cross=lambda: torch.linalg.cross(a[0], a[1]),
        vdot=lambda: torch.vdot(torch.tensor([1j]), torch.tensor([1j])),
    )


def linear_algebra_values_and_gradients() -> None:
    m = torch.tensor([[4.0, 1.0], [2.0, 3.0]], dtype=torch.float64)
    L = torch.linalg
    for f in (
        lambda x: L.inv(x),
        lambda x: L.det(x),
        lambda x: L.solve(x, torch.ones(2).double()),
        lambda x: L.cholesky(x @ x.T),
        lambda x: L.slogdet(x)[1],
        lambda x: L.eigvalsh(x + x.T),
        lambda x: L.svdvals(x),
        lambda x: L.matrix_norm(x),
        lambda x: torch.logdet(x),
        lambda x: L.pinv(x),
        lambda x: L.matrix_exp(x),
        lambda x: L.qr(x)[1].abs(),
        lambda x: L.lstsq(x, torch.ones(2, 1).double())[0],
        lambda x: L.solve_triangular(x, torch.ones(2, 1).double(), upper=True),
    ):
        x = m.clone().requires_grad_()
        y = f(x)
        (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
        print(near(y), near(x.grad))


def a_pair_of_results_may_be_told_to_go_nowhere() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for name in ("median", "nanmedian", "mode", "max", "min", "cummax", "cummin", "sort"):
        reduced = getattr(torch, name)
        outcome(reduced, x, 2, out=None)
        outcome(reduced, x, 1, out=None)
    outcome(torch.topk, x, 1, 2, out=None)
    outcome(torch.kthvalue, x, 1, 2, out=None)


def results_of_other_types_are_refused() -> None:
    x = torch.ones(3)
    wide, number = torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.int64)
    for pair in ((torch.ones(1), wide), (number, torch.ones(1)), (wide, number)):
        outcome(torch.histogram, x, 1, out=pair)
    for kind in (torch.float64, torch.complex64, torch.int64):
        outcome(torch.heaviside, x, x, out=torch.ones(3, dtype=kind))
        outcome(torch.heaviside, x.to(kind), x, out=torch.ones(3))


def smallest_and_largest_under_the_name_of_old() -> None:
    x = torch.tensor([[1.0, float("nan")], [3, 2]])
    for _ in range(2):
        print(torch._aminmax(x), torch._aminmax(x, 1, True))
    outcome(torch._aminmax, torch.ones(0, 2), 0)
    outcome(torch._aminmax, x, 2)
