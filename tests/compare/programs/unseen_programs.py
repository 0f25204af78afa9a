"""What programs and packages that nobody here wrote asked for, and got something else."""

import importlib
import warnings
from typing import Any

import numpy as np
import torch
from observation import each, outcome

nn, F = torch.nn, torch.nn.functional


def _module(path: str) -> Any:
    """A module of the implementation that is looked at."""
    return importlib.import_module(f"{torch.__name__}.{path}")


def _warned(make: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        make()
    return [str(w.message).split("(Triggered")[0].strip() for w in found]


def python_types_are_dtypes_of_64_bits() -> None:
    for kind in (float, int, bool, complex):
        made = [
            torch.zeros(2, dtype=kind), torch.tensor([1, 0], dtype=kind), torch.ones(2).to(kind),
            torch.as_tensor([1.0], dtype=kind), torch.full((2,), 1, dtype=kind),
            torch.zeros_like(torch.ones(2), dtype=kind), torch.ones(2).new_zeros(2, dtype=kind),
            torch.as_tensor(np.ones(2, "f4"), dtype=kind), torch.empty(2, dtype=kind),
        ]  # fmt: skip
        print(kind.__name__, [t.dtype for t in made])
    print(torch.finfo(float).dtype, torch.iinfo(int).dtype, nn.Linear(2, 2).to(float).weight.dtype)
    print(torch.promote_types(float, torch.float32), torch.can_cast(complex, torch.float32))
    print(torch.ones(2).view(int).dtype)
    each(
        integers=lambda: nn.Linear(2, 2).to(int),
        text=lambda: torch.finfo(str),
        type=lambda: torch.ones(2).type(float),
    )


def composite_functions_take_numpys_names() -> None:
    x = torch.arange(6.0).reshape(2, 3) + 1
    print(torch.nanmean(x, axis=1, keepdims=True), x.nanmean(axis=0), x.chunk(2, axis=1)[1])
    print(torch.diff(x, axis=0), x.quantile(0.5, axis=1), torch.trapezoid(x, axis=1))
    print(x.repeat_interleave(2, axis=0).shape, torch.cross(x, x.flip(1), axis=1))
    print(torch.take_along_dim(x, torch.zeros(2, 1, dtype=torch.long), axis=1))
    print(torch.linalg.norm(x, axis=1, keepdims=True), torch.linalg.matrix_norm(x, keepdims=True))
    print(torch.fft.fft(x, axis=0).real, x.narrow(axis=1, start=0, length=2))
    print(F.cosine_similarity(x, x + 1, axis=1))


def modules_and_empty_tensors_in_channels_last() -> None:
    m = nn.Sequential(nn.Conv2d(8, 4, 3), nn.Linear(2, 2), nn.BatchNorm2d(4))
    weight = m[0].weight
    print(m.to(memory_format=torch.channels_last) is m, m[0].weight is weight, weight.stride())
    print(m.to("cpu", torch.float64, memory_format=torch.contiguous_format)[0].weight.stride())
    print(nn.Conv3d(2, 4, 3).to(memory_format=torch.channels_last_3d).weight.stride())
    print(torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride())
    print(torch.empty((2, 3, 4, 5, 6), memory_format=torch.channels_last_3d).stride())
    each(
        rank=lambda: torch.empty(2, 3, memory_format=torch.channels_last),
        preserve=lambda: torch.empty(2, 3, 4, 5, memory_format=torch.preserve_format),
        zeros=lambda: torch.zeros(2, 3, 4, 5, memory_format=torch.channels_last),
        names=lambda: torch.zeros(2, names=("a",)),
        kind=lambda: torch.empty(2, 3, 4, 5, memory_format=3),
    )


def a_list_of_arrays_is_warned_of_once() -> None:
    a = np.ones(2)
    print(_warned(lambda: torch.tensor((a, a))))
    print(_warned(lambda: torch.FloatTensor([a, a])), _warned(lambda: torch.tensor([a, a])))


def a_number_made_of_a_tensor_with_history_is_warned_of_once() -> None:
    t = torch.tensor(2.0, requires_grad=True)
    print(_warned(lambda: int(t)), _warned(lambda: t.item()))
    with torch.no_grad():
        print(_warned(lambda: float(t)))
    print(_warned(lambda: f"{t * 2:.2f}"), _warned(lambda: float(t)), _warned(lambda: complex(t)))


def nested_lists_of_numbers() -> None:
    values = [
        [], [[]], [[], [], []], [1, 2, 3], [1, 2.0, True], [True] * 4, [[1, 2], [3, 4], [5, 6]],
        [[1, 2], [3], [5, 6]], [[1, 2], [3, 4], 5], [[[1, 2, 3]] * 4] * 5, [np.float32(1)] * 5,
        [np.float64(1), 2, 3], [np.int8(1)] * 4, [1, 2, 3j], [1, 2, "a"],
        ["a", "b", "c"], [None, 1, 2], [torch.tensor(1.0)] * 3, [(1, 2), (3, 4), (5, 6)],
        [np.uint8(3), True, True], [range(3)] * 3, [{}, 1, 2],
    ]  # fmt: skip
    for value in values:
        print(outcome(lambda value=value: torch.tensor(value)))
        print(outcome(lambda value=value: torch.tensor(value, dtype=torch.float16)))
    each(
        none=lambda: torch.tensor([None, 1], dtype=torch.int32),
        text=lambda: torch.tensor([1, "a"], dtype=torch.int32),
    )


def rounding_to_a_grid_lets_gradients_through() -> None:
    x = torch.linspace(-2, 2, 9, requires_grad=True)
    y = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -10, 10)
    y.sum().backward()
    print(y.detach(), type(y.grad_fn).__name__, x.grad)
    w = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    steps, zeros = torch.tensor([0.1, 0.2, 0.05]), torch.tensor([0, 1, -2], dtype=torch.int32)
    y = torch.fake_quantize_per_channel_affine(w, steps, zeros, 0, -8, 7)
    y.sum().backward()
    print(y.detach(), type(y.grad_fn).__name__, w.grad)
    by_tensor = torch.fake_quantize_per_tensor_affine(
        x, torch.tensor(0.1), torch.tensor(3, dtype=torch.int32), -10, 10
    )
    print(by_tensor.detach(), type(by_tensor.grad_fn).__name__)
    half_way = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, float("nan"), float("inf")])
    print(torch.fake_quantize_per_tensor_affine(half_way, 1.0, 0, -8, 8))
    each(
        integers=lambda: torch.fake_quantize_per_tensor_affine(torch.ones(2).long(), 0.1, 0, 0, 9),
        order=lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 9, 0),
        zero=lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255),
        kind=lambda: torch.fake_quantize_per_channel_affine(w, steps, zeros.long(), 0, -8, 7),
        count=lambda: torch.fake_quantize_per_channel_affine(w, steps[:2], zeros[:2], 0, -8, 7),
        axis=lambda: torch.fake_quantize_per_channel_affine(w, steps, zeros, 2, -8, 7),
    )


def a_module_with_other_tensors_in_a_context() -> None:
    stateless = _module("nn.utils.stateless")

    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.n = self.n + 1
            return x + self.n

    counter, given = Counter(), {"n": torch.tensor(5.0)}
    with stateless._reparametrize_module(counter, given):
        print(counter(torch.ones(2)))
    print(counter.n, given)
    given = {"n": torch.tensor(5.0)}
    print(torch.func.functional_call(counter, given, (torch.ones(1),)), given, counter.n)
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    with stateless._reparametrize_module(tied, {"0.weight": torch.zeros(2, 2)}, tie_weights=True):
        print(tied[1].weight)
    with stateless._reparametrize_module(tied, {"0.weight": torch.zeros(2, 2)}):
        print(tied[1].weight is tied[0].weight)


def private_functions_that_packages_take() -> None:
    parts, lbfgs = _module("autograd.functional"), _module("optim.lbfgs")
    print(parts._construct_standard_basis_for((torch.zeros(2), torch.zeros(1).double()), (2, 1)))
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    print(parts._as_tuple(y)[0] is y, parts._tuple_postprocess((y, y), True)[0] is y)
    print(parts._grad_postprocess((y,), False)[0].requires_grad)
    print(parts._autograd_grad((y,), (x,), (torch.ones(2),)))
    print(parts._autograd_grad((torch.ones(1),), (x,)))

    def at(start: torch.Tensor, step: float, along: torch.Tensor) -> tuple[float, torch.Tensor]:
        there = start + step * along
        return float((there**4).sum()), 4 * there**3

    start = torch.tensor([1.0, -2.0])
    slope = 4 * start**3
    found = lbfgs._strong_wolfe(at, start, 1.0, -slope, 17.0, slope, slope.dot(-slope))
    print(round(found[0], 4), found[1], round(float(found[2]), 4), found[3])
    print(lbfgs._cubic_interpolate(0.0, 1.0, -1.0, 1.0, 0.5, torch.tensor(0.2)))
    print(
        torch._softmax_backward_data(
            torch.arange(6.0).reshape(2, 3), torch.eye(3)[:2].softmax(1), 1, torch.float32
        )
    )


def old_constructors_of_sparse_tensors() -> None:
    places, values = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    made = torch.sparse.FloatTensor(places, values, torch.Size([2, 3]))
    print(made, isinstance(made, torch.sparse.FloatTensor))
    print(isinstance(made, torch.sparse.DoubleTensor), torch.sparse.FloatTensor)


def settings_of_the_compiler_are_kept() -> None:
    config = _module("_inductor.config")
    config.coordinate_descent_tuning = True
    config.triton.unique_kernel_names = True
    print(config.coordinate_descent_tuning, config.triton.unique_kernel_names)
    with config.patch(max_autotune=True):
        print(config.max_autotune)
    print(config.max_autotune, torch.nn.attention.sdpa_kernel.__name__)
    # Not called: a C++ compiler that starts cold takes longer than a program may.
    print(callable(torch.compile(torch.sin, options={"max_autotune": False})))


def modules_that_compute_again_in_backward() -> None:
    again = _module("distributed.algorithms._checkpoint.checkpoint_wrapper")
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
    plain = {k: v.clone() for k, v in m.state_dict().items()}
    x = torch.ones(1, 2, requires_grad=True)
    expected = m(x)
    again.apply_activation_checkpointing(m, check_fn=lambda part: isinstance(part, nn.Linear))
    print(m, list(m.state_dict()), [n for n, _ in m.named_parameters()], m[0].in_features)
    print(torch.equal(m(x), expected), m.load_state_dict(plain))
    m(x).sum().backward()
    print(x.grad)
    for kind in again.CheckpointImpl:
        wrapped = again.checkpoint_wrapper(nn.Linear(2, 2), kind)
        wrapped(x).sum().backward()
        print(kind, wrapped.weight.grad)


def states_by_the_names_of_parameters() -> None:
    states = _module("distributed.checkpoint.state_dict")
    torch.manual_seed(0)
    m = nn.Linear(2, 2)
    adam = torch.optim.Adam(m.parameters())
    m(torch.ones(1, 2)).sum().backward()
    adam.step()
    model, optimizer = states.get_state_dict(m, adam)
    print(list(model), optimizer)
    other = nn.Linear(2, 2)
    second = torch.optim.Adam(other.parameters(), lr=0.5)
    print(states.set_state_dict(other, second, model_state_dict=model, optim_state_dict=optimizer))
    print(torch.equal(other.weight, m.weight), second.param_groups[0]["lr"], second.state_dict())
    flat = states.StateDictOptions(flatten_optimizer_state_dict=True)
    print(sorted(states.get_optimizer_state_dict(m, adam, options=flat))[:4])


def choices_for_parameters_spread_over_processes() -> None:
    fsdp, wrap = _module("distributed.fsdp"), _module("distributed.fsdp.wrap")
    print(list(fsdp.ShardingStrategy), list(fsdp.StateDictType), list(fsdp.BackwardPrefetch))
    print(fsdp.CPUOffload(), fsdp.FullStateDictConfig(rank0_only=True))
    m = nn.Linear(30, 30)
    print(wrap.size_based_auto_wrap_policy(m, False, 900, min_num_params=100))
    print(wrap.transformer_auto_wrap_policy(m, False, 900, {nn.Conv2d}))
    print(wrap.lambda_auto_wrap_policy(m, False, 900, lambda part: True), wrap.wrap(m) is m)
    print(wrap.ModuleWrapPolicy({nn.Linear})(m, False, 900))


def draws_of_wishart_are_drawn_twice() -> None:
    distributions = _module("distributions")
    for batch in ((), (2,)):
        matrix = torch.eye(3).expand((*batch, 3, 3))
        law = distributions.Wishart(torch.full(batch, 4.0), matrix)
        torch.manual_seed(0)
        print(_warned(lambda law=law: print(law.sample((2,)))), torch.rand(1))
