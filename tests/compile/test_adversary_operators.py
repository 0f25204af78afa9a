"""Operators that do more than one row says: hidden writes, memory behind views, numbers as inputs.

Each of these steps once gave another result compiled than eagerly, or is a neighbour of one.
"""

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from tests.compile.twins import Scenario, Twin, check


def outer_difference(x: Any) -> Any:
    return x[:, None] - x[None], (x[:, None] * x[None]).sum(0), x[None] + x[:, None] * 2


def floor_of_cosine(x: Any) -> Any:
    return F.cosine_similarity(x[None] * 0, x[None]), F.cosine_similarity(x[None], x[None])


def result_given_as_out(x: Any) -> Any:
    made = torch.empty(3)
    torch.add(x, 1, out=made)
    return made * 2


def several_results_given_as_out(x: Any) -> Any:
    values, places = torch.zeros(3), torch.empty(3, dtype=torch.int64)
    torch.sort(x, out=(values, places))
    return values, places


def statistics_of_instances(x: Any) -> Any:
    mean, variance = torch.zeros(3), torch.ones(3)
    F.instance_norm(x.repeat(2, 3, 1), mean, variance, use_input_stats=True)
    return mean, variance


def copies_of_strides(x: Any) -> Any:
    return torch.as_strided_copy((x * 2)[1:], (2, 2), (1, 0), 1)


def strides_from_the_start(x: Any) -> Any:
    return (x * 2)[1:].as_strided((2,), (1,), 0) + 1, (x * 2).as_strided((2, 2), (1, 1)).cumsum(0)


def data_of_a_result(x: Any) -> Any:
    y = x.clone()
    y.data.mul_(3)
    y.detach()[0] = 9
    return y


def array_of_a_result(x: Any) -> Any:
    y = x.clone()
    y.numpy()[0] = 4
    return y


def writes_of_all_kinds(x: Any) -> Any:
    y = torch.zeros(3)
    y.copy_(x)
    y[1:] = 0
    y[0] += 5
    y.index_put_((torch.tensor([2]),), x[:1])
    y.scatter_(0, torch.tensor([1]), x[1:2])
    y.lerp_(x, 0.5)
    torch._foreach_mul_([y], 3.0)
    return y.clamp_(max=4.0)


def embedding_with_a_norm(x: Any) -> Any:
    weight = x.repeat(2, 1) * 5
    return F.embedding(torch.tensor([0, 1]), weight, max_norm=1.0), weight


def clipped_gradient(x: Any) -> Any:
    p = nn.Parameter(x.clone())
    p.grad = x * 3
    norm = nn.utils.clip_grad_norm_([p], 1.0)
    return p.grad, norm


STEPS = [
    outer_difference, floor_of_cosine, result_given_as_out, several_results_given_as_out,
    statistics_of_instances, copies_of_strides, strides_from_the_start, data_of_a_result,
    array_of_a_result, writes_of_all_kinds, embedding_with_a_norm, clipped_gradient,
]  # fmt: skip
NUMBERS: dict[str, Any] = {
    "dropout": lambda x, k: F.dropout(x, k),
    "alpha dropout": lambda x, k: F.alpha_dropout(x, k, True),
    "rrelu": lambda x, k: F.rrelu(x, k / 4, k, True),
    "bernoulli": lambda x, k: torch.empty(9).bernoulli_(k),
    "uniform": lambda x, k: torch.empty(3).uniform_(-k, k),
    "normal": lambda x, k: torch.normal(x, k),
    "full": lambda x, k: (torch.full((3,), k), torch.linspace(0, k, 5), torch.tensor([k, k])),
    "arithmetic": lambda x, k: (x + k, k - x, k**x, x.abs() ** k, x // k, x % k, x @ (x * k)),
    "comparison": lambda x, k: (x > k, x.clamp(-k, k), torch.where(x > k, x, k), x * max(k, 0.4)),
    "branch": lambda x, k: x * 2 if k > 0.4 else x,
    "kind": lambda x, k: x * (2 if isinstance(k, float) else 3) * (5 if type(k) is float else 7),
    "use": lambda x, k: x * int(k * 10) * round(k, 1) * float(f"{k}") * hash(k % 7),
    "result": lambda x, k: (x, k, k * 2),
    "norms": lambda x, k: (F.layer_norm(x, (3,), eps=k), x.norm(k + 1), F.normalize(x, k + 1, 0)),
    "batch norm": lambda x, k: F.batch_norm(x.view(3, 1), None, None, training=True, eps=k),
    "losses": lambda x, k: (F.huber_loss(x, x * 2, delta=k), F.smooth_l1_loss(x, x * 2, beta=k)),
    "attention": lambda x, k: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=k),
    "interpolation": lambda x, k: F.interpolate(x[None, None], scale_factor=k + 1, mode="linear"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.__name__)
def test_hidden_effects_are_recorded_or_refused(step: Any, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        calls = twin(step)
        for k in range(6):
            x = torch.tensor([1.5, -0.25, 2.0]) * (k + 1)
            calls(x)
            twin.note(x)

    check(scenario, native, 1e-4)


TYPES = [torch.bool, torch.int64, torch.float16, torch.float32, torch.float64]


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_write_of_another_type_is_cast_or_refused(dtype: Any, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        for name in ("add_", "mul_", "pow_"):
            for other in (2, 0.5, *(torch.tensor([1, 0, 2]).to(t) for t in TYPES)):
                calls = twin(lambda x, y, name=name: getattr(x * x, name)(y))
                written = twin(lambda x, y, name=name: getattr(x, name)(y))
                for _ in range(4):
                    x = torch.tensor([1, 0, 3]).to(dtype)
                    calls(x, other)
                    written(x, other)
                    twin.note(x)

    check(scenario, native)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_changes_is_seen_by_every_use(name: str, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        given, held = twin(NUMBERS[name]), [0.5]
        captured = twin(lambda x: NUMBERS[name](x, held[0]))
        for k in (0.5, 0.5, 0.5, 0.25, 0.75, 0.3, 0.6, 0.45, 0.9):
            x = torch.tensor([1.5, -0.25, 2.0])
            held[0] = k
            given(x, k)
            captured(x)

    found: Scenario = scenario
    check(found, native, 1e-4)


def test_a_number_that_changes_reaches_the_gradients_of_a_module() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))
            self.gain = 1.5

        def forward(self, x: Any) -> Any:
            return (self.w * x * self.gain).tanh() * self.gain

    model = Model()
    compiled = torch.compile(model)
    for gain in (1.5, 1.5, 1.5, 2.0, 2.0, 3.0, 0.5, 0.25):
        model.gain = gain
        grads = []
        for call in (model, compiled):
            model.w.grad = None
            call(torch.ones(2)).sum().backward()
            grads.append(model.w.grad)
        assert torch.allclose(*grads)


def test_batches_of_one_tensor_need_one_program() -> None:
    whole = torch.arange(80.0).view(20, 4)
    compiled = torch.compile(lambda x, y: (x * 2 + y).sum(1))
    for i in range(0, 15, 2):
        j = (i * 7) % 16
        expected = (whole[i : i + 4] * 2 + whole[j : j + 4]).sum(1)
        assert torch.allclose(compiled(whole[i : i + 4], whole[j : j + 4]), expected)
    assert len(compiled.variants) == 1, compiled.explain()
