"""Every optimizer's rule: three steps end where PyTorch 2.13 ends."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn, optim

GRADS = [[0.5, -1.0, 2.0], [0.25, 3.0, -0.5], [-1.0, 0.125, 4.0]]
ENDS: list[tuple[str, dict[str, Any], list[float]]] = [
    ("SGD", {"lr": 0.1}, [1.024999976158142, -2.2125000953674316, -0.04999998211860657]),
    (
        "SGD",
        {"lr": 0.1, "momentum": 0.9},
        [0.9169999957084656, -2.311499834060669, -0.34700000286102295],
    ),
    (
        "SGD",
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
        [0.8772111535072327, -2.3340373039245605, -0.833199143409729],
    ),
    (
        "SGD",
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True},
        [1.1092499494552612, -1.9797499179840088, 1.1944999694824219],
    ),
    ("Adam", {"lr": 0.1}, [0.82741779088974, -1.9901145696640015, 0.2796456515789032]),
    (
        "Adam",
        {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1},
        [0.8120982646942139, -1.9732431173324585, 0.2767420709133148],
    ),
    ("AdamW", {"lr": 0.1}, [0.8247138857841492, -1.9842711687088013, 0.27839401364326477]),
    ("RMSprop", {}, [0.9425727128982544, -1.998887300491333, 0.3352988660335541]),
    (
        "RMSprop",
        {"centered": True, "momentum": 0.9},
        [0.7290452122688293, -1.9123210906982422, 0.18431924283504486],
    ),
    (
        "Adagrad",
        {"lr": 0.1, "lr_decay": 0.1},
        [0.9320834875106812, -1.9895354509353638, 0.34797459840774536],
    ),
    ("Adadelta", {}, [0.9990594387054443, -2.001356840133667, 0.4938925802707672]),
    ("Adamax", {"lr": 0.1}, [0.8398951292037964, -1.9616516828536987, 0.318061500787735]),
    ("NAdam", {"lr": 0.1}, [0.9360237717628479, -2.000819206237793, 0.3111388683319092]),
    ("RAdam", {"lr": 0.1}, [0.9268110394477844, -2.0848803520202637, 0.04080402851104736]),
    ("Rprop", {"lr": 0.1}, [0.7799999713897705, -1.9499999284744263, 0.3499999940395355]),
    ("ASGD", {"lr": 0.1, "t0": 1}, [1.0249699354171753, -2.2124364376068115, -0.05000588297843933]),
]


@pytest.mark.parametrize(("name", "options", "end"), ENDS)
def test_three_steps_end_where_they_should(
    name: str, options: dict[str, Any], end: list[float]
) -> None:
    p = nn.Parameter(rl.tensor([1.0, -2.0, 0.5]))
    optimizer = getattr(optim, name)([p], **options)
    for grad in GRADS:
        p.grad = rl.tensor(grad)
        optimizer.step()
    assert p.tolist() == pytest.approx(end, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize(("name", "options", "end"), ENDS)
def test_the_generic_rule_agrees_with_the_sweep(
    name: str, options: dict[str, Any], end: list[float]
) -> None:
    p = nn.Parameter(rl.tensor([1.0, -2.0, 0.5]))
    optimizer = getattr(optim, name)([p], **options)
    for grad in GRADS:
        p.grad = rl.tensor(grad)
        with rl.no_grad():
            optimizer._update(p, optimizer.param_groups[0])
    assert p.tolist() == pytest.approx(end, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_a_step_is_seen_by_the_saved_tensor_check(name: str) -> None:
    p = nn.Parameter(rl.ones(2))
    y = (p * p).sum()
    p.grad = rl.ones(2)
    getattr(optim, name)([p], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_half_precision_and_mixed_groups_take_the_generic_way() -> None:
    params = [nn.Parameter(rl.ones(2)), nn.Parameter(rl.ones(2, dtype=rl.float64))]
    params.append(nn.Parameter(rl.ones(2, dtype=rl.float16)))
    for p in params:
        p.grad = rl.ones_like(p)
    optim.SGD(params, lr=0.5).step()
    assert [p.tolist() for p in params] == [[0.5, 0.5]] * 3


def test_a_gradient_passes_through_a_differentiable_step() -> None:
    start = rl.tensor([2.0], requires_grad=True)
    p = start * 1
    optimizer = optim.SGD([p], lr=0.1, differentiable=True)
    p.grad = start * start
    optimizer.step()
    p.backward()
    assert start.grad.item() == pytest.approx(1 - 0.1 * 4)


@pytest.mark.parametrize("size", [7, 300])
def test_ways_of_running_a_rule_agree_to_the_bit(size: int) -> None:
    rl.manual_seed(0)
    start, grads = rl.randn(size), [rl.randn(size) for _ in range(3)]
    ends = []
    for way in ({"foreach": False}, {"foreach": True}, {"fused": True}, None):
        p = nn.Parameter(start.clone())
        average, square, count = rl.zeros(size), rl.zeros(size), rl.tensor(0.0)
        optimizer = optim.Adam([p], lr=0.1, **(way or {}))
        for g in grads:
            p.grad = g.clone()
            if way is not None:
                optimizer.step()
                continue
            options = {"amsgrad": False, "beta1": 0.9, "beta2": 0.999, "lr": 0.1,
                       "weight_decay": 0, "eps": 1e-8, "maximize": False}  # fmt: skip
            optim.adam.adam([p], [g], [average], [square], [], [count], **options)
        ends.append(p.tolist())
    assert ends[0] == ends[1] == ends[2] == ends[3]


def test_rprop_leaves_a_weight_with_a_nan_gradient_alone() -> None:
    p = nn.Parameter(rl.ones(2))
    p.grad = rl.tensor([float("nan"), 1.0])
    optim.Rprop([p], lr=0.5).step()
    assert p.tolist() == [1.0, 0.5]


def test_halves_are_rounded_once() -> None:
    p = nn.Parameter(rl.ones(3, dtype=rl.float16))
    p.grad = rl.tensor([0.1, 0.2, 0.3], dtype=rl.float16)
    wide = p.detach().float() - p.grad.float() * 0.1
    optim.SGD([p], lr=0.1).step()
    assert p.tolist() == wide.half().tolist()
