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
