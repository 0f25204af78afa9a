"""Results have the same bits whatever the number of threads, and while it changes."""

import hashlib
import random
import threading
import time
from collections.abc import Iterator

import pytest

import rushlight as torch
from rushlight._native.llvm import target

F = torch.nn.functional

pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

#: What is done with x (rows, columns), by kernels and products.
WORK = (
    lambda x, other: F.softmax(x, -1),
    lambda x, other: F.layer_norm(x, (x.shape[1],)),
    lambda x, other: F.gelu(x),
    lambda x, other: x @ other,
    lambda x, other: x.sum(0) * x.mean(1, keepdim=True),
    lambda x, other: F.cross_entropy(x, torch.arange(len(x)) % x.shape[1]),
    lambda x, other: F.conv2d(x.view(1, 1, *x.shape), other[:3, :3].reshape(1, 1, 3, 3)),
    lambda x, other: torch.cumsum(x, 0).tanh(),
)


@pytest.fixture(autouse=True)
def _as_many_threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _digests(seed: int) -> list[str]:
    """Of the values and gradients of some operations, on sizes around those that wake threads."""
    chosen = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(8):
        columns = chosen.choice((3, 17, 64, 257))
        rows = max(3, int(2 ** chosen.uniform(8, 18)) // columns)
        x = torch.randn(rows, columns, generator=generator).requires_grad_()
        y = chosen.choice(WORK)(x, torch.randn(columns, 33, generator=generator))
        y.sum().backward()
        shown = y.detach().contiguous().numpy().tobytes() + x.grad.contiguous().numpy().tobytes()
        found.append(hashlib.sha256(shown).hexdigest())
    return found


def test_threads_that_work_while_the_number_of_threads_changes_have_the_bits_of_one() -> None:
    seeds = range(24)
    torch.set_num_threads(1)
    alone = {seed: _digests(seed) for seed in seeds}
    torch.set_num_threads(2)
    assert {seed: _digests(seed) for seed in seeds} == alone
    beside: dict[int, list[str]] = {}
    done = threading.Event()

    def change() -> None:
        chosen = random.Random(5)
        while not done.is_set():
            torch.set_num_threads(chosen.randint(1, 4))
            time.sleep(chosen.random() * 0.003)

    def work(some: range) -> None:
        for seed in some:
            beside[seed] = _digests(seed)

    changing = threading.Thread(target=change)
    workers = [threading.Thread(target=work, args=(seeds[k::4],)) for k in range(4)]
    for thread in (changing, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    changing.join()
    assert beside == alone
