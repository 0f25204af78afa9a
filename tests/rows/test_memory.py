"""Memory that can't be had is a RuntimeError in PyTorch's words, whoever asks for it."""

import io
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

N = 1 << 47  # elements of which no address space holds as many bytes


def wide(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.ones(1, dtype=dtype).expand(*shape)


class Greedy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return torch.empty(N)


def differentiated(of: Callable[[Any], Any]) -> None:
    of(torch.ones(1, requires_grad=True)).sum().backward()


ASKING: dict[str, Callable[[], Any]] = {
    "empty": lambda: torch.empty(N),
    "zeros": lambda: torch.zeros(N),
    "ones": lambda: torch.ones(N),
    "full": lambda: torch.full((N,), 2.0),
    "eye": lambda: torch.eye(1 << 30),
    "arange": lambda: torch.arange(N),
    "linspace": lambda: torch.linspace(0, 1, N),
    "logspace": lambda: torch.logspace(0, 1, N),
    "empty_strided": lambda: torch.empty_strided((N,), (1,)),
    "new_zeros": lambda: torch.ones(1).new_zeros(N),
    "zeros_like": lambda: torch.zeros_like(wide(N)),
    "full_like": lambda: torch.full_like(wide(N), 1),
    "rand": lambda: torch.rand(N),
    "randn": lambda: torch.randn(N),
    "randn of doubles": lambda: torch.randn(N, dtype=torch.float64),
    "randint": lambda: torch.randint(3, (N,)),
    "randperm": lambda: torch.randperm(N),
    "bernoulli": lambda: torch.bernoulli(wide(N)),
    "multinomial": lambda: torch.multinomial(torch.ones(2), N, replacement=True),
    "normal": lambda: torch.normal(0.0, 1.0, (N,)),
    "dropout": lambda: torch.nn.functional.dropout(wide(N), 0.5),
    "one operand": lambda: wide(N).exp(),
    "two operands": lambda: wide(N) + wide(N),
    "broadcasting": lambda: torch.ones(1 << 22, 1) + wide(1 << 23),
    "a number": lambda: wide(N) * 2,
    "integers": lambda: wide(N, dtype=torch.int64) * 2,
    "bools": lambda: ~wide(N, dtype=torch.bool),
    "compared": lambda: wide(N) > 0,
    "recorded": lambda: wide(N).requires_grad_() * 2,
    "where": lambda: torch.where(wide(N, dtype=torch.bool), 1.0, 0.0),
    "contiguous": lambda: wide(N).contiguous(),
    "clone": lambda: wide(N).clone(memory_format=torch.contiguous_format),
    "reshape": lambda: wide(1 << 24, 1 << 24).t().reshape(-1) + 1,
    "cat": lambda: torch.cat([wide(N), wide(N)]),
    "stack": lambda: torch.stack([wide(N), wide(N)]),
    "repeat": lambda: torch.ones(10).repeat(N),
    "repeat_interleave": lambda: torch.ones(10).repeat_interleave(N),
    "repeat_interleave of each": lambda: torch.repeat_interleave(torch.tensor([N, 1])),
    "cartesian_prod": lambda: torch.cartesian_prod(*[torch.ones(1 << 12)] * 4),
    "pad": lambda: torch.nn.functional.pad(torch.ones(1), (N, 0)),
    "converted": lambda: wide(N).double(),
    "to": lambda: wide(N).to(torch.int16),
    "matmul": lambda: wide(1 << 24, 1) @ wide(1, 1 << 24),
    "outer": lambda: torch.outer(wide(1 << 24), wide(1 << 24)),
    "linear": lambda: torch.nn.functional.linear(wide(1 << 24, 1), wide(1 << 24, 1)),
    "einsum": lambda: torch.einsum("i,j->ij", wide(1 << 24), wide(1 << 24)),
    "bmm": lambda: torch.bmm(wide(1, 1 << 24, 1), wide(1, 1, 1 << 24)),
    "indexed": lambda: torch.ones(3)[wide(N, dtype=torch.int64)],
    "places": lambda: torch.ones(3).index_select(0, wide(N, dtype=torch.int64)),
    "index_select": lambda: wide(2, N).index_select(0, torch.tensor([0])),
    "embedding": lambda: torch.nn.functional.embedding(torch.tensor([0]), wide(1, N)),
    "one_hot": lambda: torch.nn.functional.one_hot(torch.tensor([1]), N),
    "softmax": lambda: wide(N).softmax(0),
    "cumsum": lambda: wide(N).cumsum(0),
    "sort": lambda: wide(N).sort(),
    "tril_indices": lambda: torch.tril_indices(1 << 24, 1 << 24),
    "conv1d": lambda: torch.nn.functional.conv1d(wide(1, 1, N), torch.ones(1, 1, 1)),
    "interpolate": lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 1), size=N),
    "a view's gradient": lambda: differentiated(lambda x: x.expand(N)[0]),
    "a function's gradient": lambda: differentiated(Greedy.apply),
    "a layer": lambda: torch.nn.Linear(1 << 24, 1 << 24),
    "resize_": lambda: torch.ones(1).resize_(N),
    "a storage": lambda: torch.UntypedStorage(N),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKING)
def test_memory_that_the_system_refuses_is_a_runtime_error(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"DefaultCPUAllocator: can't allocate memory") as caught:
        ASKING[name]()
    assert type(caught.value) is RuntimeError
    assert "[enforce fail at alloc_cpu.cpp:" in str(caught.value)
    assert str(caught.value).endswith(" bytes. Error code 12 (Cannot allocate memory)")


@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (lambda: torch.empty(1 << 61), "[2305843009213693952]"),
        (lambda: torch.zeros(1 << 40, 1 << 40), "[1099511627776, 1099511627776]"),
        (lambda: torch.full((1 << 62, 1 << 62), 1.0), "[4611686018427387904, 4611686018427387904]"),
        (lambda: torch.rand(1 << 61), "[2305843009213693952]"),
        (lambda: torch.ones(1).expand(1 << 61).contiguous(), "[2305843009213693952]"),
        (lambda: torch.ones(1 << 15, 1, 1) + torch.ones(1).expand(1 << 45, 2),
         "[32768, 35184372088832, 2]"),
        (lambda: torch.empty_strided((1 << 40, 1 << 40), (1 << 40, 1)),
         "[1099511627776, 1099511627776] and strides=[1099511627776, 1]"),
    ],
)  # fmt: skip
def test_a_size_that_no_number_of_bytes_has_is_told(make: Callable[[], Any], sizes: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        make()
    assert str(caught.value) == f"Storage size calculation overflowed with sizes={sizes}"


def test_the_bytes_that_were_asked_for_are_told() -> None:
    with pytest.raises(RuntimeError, match=f"you tried to allocate {8 * N} bytes"):
        torch.empty(N, dtype=torch.float64)


def test_everything_works_on_after_a_refusal() -> None:
    for _ in range(3):
        with pytest.raises(RuntimeError, match="can't allocate"):
            wide(1 << 24, 1) @ wide(1, 1 << 24)
        with pytest.raises(RuntimeError, match="can't allocate"):
            differentiated(lambda x: x.expand(N)[0])
        x = torch.ones(50, 50, requires_grad=True)
        (x @ x).sum().backward()
        assert torch.equal(x.grad, torch.full((50, 50), 100.0))


def test_a_memory_error_of_the_programs_own_stays_what_it_is() -> None:
    x = torch.ones(2, requires_grad=True)

    def hook(g: Any) -> None:
        raise MemoryError("mine")

    x.register_hook(hook)
    with pytest.raises(MemoryError, match="mine"):
        (x * 2).sum().backward()


def test_a_file_that_tells_of_more_than_there_is_room_for_is_an_error() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(1).expand(N)[:1], file)
    file.seek(0)
    assert torch.load(file).tolist() == [1.0]
