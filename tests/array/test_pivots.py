"""Last pivots that are all rounding: LU in the order of operations that PyTorch's library has."""

import numpy as np

import rushlight as torch


def gram(n: int, seed: int) -> torch.Tensor:
    """A matrix of order `n` and rank `n - 1`, but for rounding."""
    a = np.random.RandomState(seed).randn(n - 1, n).astype(np.float32)
    return torch.from_numpy(a.T @ a)


def by_hand(x: np.ndarray) -> tuple[np.ndarray, int]:
    """LU by rank-one updates with reciprocals, each operation rounded."""
    a, info = x.copy(), 0
    for j in range(len(a)):
        p = j + int(np.argmax(np.abs(a[j:, j])))
        a[[j, p]] = a[[p, j]]
        if a[j, j] == 0:
            info = info or j + 1
            continue
        a[j + 1 :, j] *= 1 / a[j, j]
        a[j + 1 :, j + 1 :] -= a[j + 1 :, j : j + 1] * a[j : j + 1, j + 1 :]
    return a, info


def test_grams_of_lower_rank_are_told_singular_as_by_hand() -> None:
    told = 0
    for n in (5, 6, 9):
        for seed in range(60):
            x = gram(n, seed)
            factors, _, info = torch.linalg.lu_factor_ex(x)
            expected, place = by_hand(x.numpy())
            assert info.item() == place
            told += bool(place)
            if abs(expected[-1, -1]) < 1e-6 * abs(expected[0, 0]):
                assert (factors.numpy() == expected).all()
    assert told


def test_stacks_are_factored_to_the_same_digits() -> None:
    stack = torch.from_numpy(np.random.RandomState(0).randn(200, 6, 6).astype(np.float32))
    factors, _, info = torch.linalg.lu_factor_ex(stack)
    assert not info.any()
    for one, x in zip(factors.numpy(), stack.numpy(), strict=True):
        assert (one == by_hand(x)[0]).all()


def test_an_inverse_that_isnt_refused_is_finite() -> None:
    for n in (3, 5, 9):
        for seed in range(60):
            x = gram(n, seed)
            inverse, info = torch.linalg.inv_ex(x)
            solution, same = torch.linalg.solve_ex(x, x)
            assert info == same
            if not info:
                assert inverse.isfinite().all() and solution.isfinite().all()


def test_determinants_are_zero_where_the_pivots_that_pytorch_finds_are() -> None:
    told = 0
    for n in (5, 9, 16):
        for seed in range(40):
            x = gram(n, seed)
            rows = by_hand(x.numpy().T)
            zero = float(np.prod(np.diag(rows[0]))) == 0
            sign, size = torch.linalg.slogdet(x)
            assert (torch.linalg.det(x).item() == 0) == zero == (sign.item() == 0)
            assert torch.isinf(size).item() == zero
            told += zero
    assert told


def test_determinants_of_a_stack_are_those_of_its_matrices() -> None:
    for dtype in (torch.float32, torch.float64):
        stack = torch.stack([gram(6, seed) for seed in range(8)]).reshape(2, 4, 6, 6).to(dtype)
        stack[0, 0] = torch.eye(6)
        stack[1, 2] *= 1e-6
        for x in (stack, stack.mT):
            signs, sizes = torch.linalg.slogdet(x)
            values = torch.linalg.det(x)
            for at in np.ndindex(2, 4):
                one = x[at] if x is stack else x[at].mT.contiguous().mT
                assert values[at] == torch.linalg.det(one)
                assert (signs[at], sizes[at]) == torch.linalg.slogdet(one)


def test_a_determinant_of_what_isnt_finite_or_hardly_a_number_is_as_in_pytorch() -> None:
    x = torch.eye(3)
    x[0, 1] = float("nan")
    sign, size = torch.linalg.slogdet(x * x.T)
    assert size.isnan() and torch.linalg.det(x * x.T).isnan() and sign == 0
    tiny = torch.diag(torch.tensor([1e-20, 1.0, 1e20]))
    assert torch.linalg.det(tiny) == torch.tensor(1e-20) * torch.tensor(1e20)
    assert torch.linalg.det(torch.zeros(0, 3, 3)).shape == (0,)
    assert torch.linalg.det(torch.ones(0, 0)) == 1
    assert torch.linalg.det(torch.eye(3) * 1e-30) == 0
    sign, size = torch.linalg.slogdet(torch.eye(3) * -1e-30)
    assert sign == -1 and abs(size.item() + 207.2327) < 1e-3
