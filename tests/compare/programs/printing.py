"""How tensors and other objects print."""

import torch
from observation import each, near


def floats() -> None:
    for v in (
        [1.0, 2.0],
        [1.5, 2.0],
        [0.1, 0.25],
        [1e-5, 1.0],
        [1e5, 1.0],
        [1e8, 1.0],
        [1e9],
        [1e-9],
        [123456.0],
        [1234567.0],
        [-1.0, 1.0],
        [0.0, -0.0],
        [100000.5, 1.0],
        [1e4, 1e-4],
        [1e3, 1e-4],
        [3.14159265],
        [99999.0],
        [0.001, 999.0],
        [1e38, 1.0],
    ):
        print(torch.tensor(v))


def special_floats() -> None:
    inf, nan = float("inf"), float("nan")
    for v in (
        [nan],
        [inf, -inf],
        [nan, 1.0],
        [inf, 1.5],
        [nan, 1e9, 1.0],
        [inf, 1.0, 2.0],
        [-inf, 0.0],
        [nan, inf],
    ):
        print(torch.tensor(v))


def scalars() -> None:
    for v in (
        1,
        1.0,
        1.5,
        True,
        1e10,
        1e-10,
        123456789,
        3.14159265,
        float("nan"),
        -0.0,
        1 + 2j,
        1e5,
        12345.678,
        0.1,
    ):
        print(torch.tensor(v), f"{torch.tensor(v)}", str(torch.tensor(v)))


def integers_and_booleans() -> None:
    for v in ([1, 10, 100], [-1, 5], [[1, 2], [-30, 4]], [True, False], [2**60, 1]):
        print(torch.tensor(v))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32):
        print(torch.tensor([1, 2], dtype=d))


def other_float_dtypes() -> None:
    for d in (torch.float16, torch.bfloat16, torch.float64):
        print(torch.tensor([1.0, 2.5, 0.1], dtype=d), torch.tensor(0.1, dtype=d))
        print(torch.zeros(0, dtype=d))


def complex_numbers() -> None:
    for v in ([1 + 2j], [1.5 - 2j, 3], [1e9 + 1j], [1j, -1j], [float("nan") + 1j], [0.1 + 100j]):
        print(torch.tensor(v))
    print(torch.tensor([1 + 2j], dtype=torch.complex128), torch.tensor([1j]).conj())


def shapes_of_many_ranks() -> None:
    for shape in (
        (2, 3),
        (2, 2, 2),
        (1, 1, 1, 2),
        (0,),
        (2, 0),
        (0, 3),
        (1,),
        (3, 1),
        (2, 1, 1, 1),
    ):
        print(torch.arange(torch.Size(shape).numel()).view(shape))
        print(torch.zeros(shape))


def long_tensors_are_summarised() -> None:
    print(torch.arange(1001))
    print(torch.arange(1000)[-3:])
    print(torch.arange(1100.0).view(11, 100))
    print(torch.zeros(20, 10, 10))
    print(torch.arange(2000).view(2, 1000))


def lines_wrap_at_eighty() -> None:
    print(torch.arange(30))
    print(torch.arange(30.0) / 7)
    print(torch.arange(60.0).view(2, 30))
    print(torch.arange(12.0).mul(1e6).view(1, 12))
    print(torch.tensor([True] * 30))


def gradients_show_in_the_suffix() -> None:
    x = torch.ones(2, requires_grad=True)
    print(x, x * 2, (x * 2).sum(), x.double(), (x * 2).detach(), x[0], x.view(2, 1))
    print(x.exp(), x.max(), x.clone().add_(1), torch.ones(0, requires_grad=True))
    y = x * 2
    y[0] = 1
    print(y, x.unbind()[1], torch.nn.functional.relu(x), x.softmax(0))


def the_suffix_wraps_too() -> None:
    x = torch.arange(12.0, requires_grad=True)
    print(x * 1.5)
    print((x * 1.5).double())
    print(torch.arange(17.0, requires_grad=True) * 1)
    print(torch.ones(20, dtype=torch.float64))


def parameters_print() -> None:
    print(torch.nn.Parameter(torch.ones(2)))
    print(torch.nn.Parameter(torch.ones(2), requires_grad=False))
    print([torch.nn.Parameter(torch.ones(1))], {"w": torch.ones(1)}, (torch.tensor(1),))


def print_options() -> None:
    x = torch.tensor([[1.23456789, 1000.5], [0.00001, 3.0]])
    torch.set_printoptions(precision=2)
    print(x)
    torch.set_printoptions(precision=8, sci_mode=False)
    print(x)
    torch.set_printoptions(sci_mode=True)
    print(x)
    torch.set_printoptions(profile="default")
    torch.set_printoptions(threshold=5, edgeitems=1)
    print(torch.arange(10), torch.arange(9).view(3, 3))
    torch.set_printoptions(linewidth=30, threshold=1000, edgeitems=3)
    print(torch.arange(20))
    torch.set_printoptions(profile="short")
    print(x)
    torch.set_printoptions(profile="full")
    print(x)
    torch.set_printoptions(profile="default", sci_mode=None)
    print(x)


def format_strings() -> None:
    t = torch.tensor(3.14159)
    each(
        two=lambda: f"{t:.2f}",
        width=lambda: f"{t:8.3f}|",
        integer=lambda: f"{torch.tensor(5):03d}",
        plain=lambda: f"{t}",
        vector=lambda: f"{torch.ones(2)}",
        vector_spec=lambda: f"{torch.ones(2):.2f}",
        percent=lambda: "%.3f" % t,
        percent_d=lambda: "%d" % torch.tensor(7),
        method=lambda: f"{t:.1e}",
        boolean=lambda: f"{torch.tensor(True)}",
        grad=lambda: f"{torch.tensor(2.5, requires_grad=True):.1f}",
        repr=lambda: f"{t!r}",
    )


def other_objects() -> None:
    each(
        size=lambda: torch.Size([1, 2]),
        device=lambda: torch.device("cpu"),
        dtype=lambda: torch.float32,
        layout=lambda: torch.strided,
        fmt=lambda: torch.contiguous_format,
        generator=lambda: torch.Generator(),
        max=lambda: torch.tensor([1.0, 2.0]).max(0),
        sort=lambda: torch.tensor([2, 1]).sort(),
        function=lambda: torch.nn.functional.relu(torch.ones(1)),
        version=lambda: isinstance(torch.__version__, str),
        cls=lambda: torch.Tensor,
        parameter=lambda: torch.nn.Parameter,
        finfo=lambda: torch.finfo(torch.float16),
    )


def nested_containers_of_tensors() -> None:
    print([torch.ones(2), torch.zeros(1)], {"a": torch.tensor(1.0)}, (torch.tensor([1]),))
    print([torch.ones(2, 2)])


def non_contiguous_and_expanded() -> None:
    x = torch.arange(6).view(2, 3)
    print(x.t(), x[:, ::2], torch.ones(1).expand(2, 3), x.flip(0))


def a_column_takes_one_width() -> None:
    print(torch.tensor([[1.0, -10.5], [100.25, 3.0]]))
    print(torch.tensor([[1.0, -10.0], [100.0, 3.0]]))
    print(torch.tensor([[1e-3, 1.0], [1e3, 10.0]]))
    print(torch.tensor([[1.0, float("nan")], [1e3, 10.0]]))


def random_tensors_print() -> None:
    print(
        torch.randn(3, 3),
        torch.rand(2, 2) * 100,
        torch.randn(4) * 1e-3,
        torch.randn(3) * 1e6,
        torch.randint(0, 1000, (2, 4)),
    )
    print(near(torch.randn(3)))
