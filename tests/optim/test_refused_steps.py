"""A step that can't be done is refused before anything is changed."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

MAKE: dict[str, Callable[..., Any]] = {
    "SGD": lambda ps, **kw: torch.optim.SGD(ps, lr=0.1, momentum=0.9, **kw),
    "Adam": lambda ps, **kw: torch.optim.Adam(ps, lr=0.1, amsgrad=True, **kw),
    "AdamW": lambda ps, **kw: torch.optim.AdamW(ps, lr=0.1, **kw),
    "Adagrad": lambda ps, **kw: torch.optim.Adagrad(ps, lr=0.1, **kw),
    "Adadelta": lambda ps, **kw: torch.optim.Adadelta(ps, lr=0.1, **kw),
    "Adamax": lambda ps, **kw: torch.optim.Adamax(ps, lr=0.1, **kw),
    "NAdam": lambda ps, **kw: torch.optim.NAdam(ps, lr=0.1, **kw),
    "RAdam": lambda ps, **kw: torch.optim.RAdam(ps, lr=0.1, **kw),
    "RMSprop": lambda ps, **kw: torch.optim.RMSprop(ps, lr=0.1, momentum=0.9, centered=True, **kw),
    "Rprop": lambda ps, **kw: torch.optim.Rprop(ps, lr=0.1, **kw),
    "ASGD": lambda ps, **kw: torch.optim.ASGD(ps, lr=0.1, **kw),
}
WAYS: list[dict[str, bool]] = [{}, {"foreach": True}, {"foreach": False}, {"fused": True}]
CASES = [
    (name, way) for name in MAKE for way in WAYS
    if "fused" not in way or name in ("SGD", "Adam", "AdamW", "Adagrad")
]  # fmt: skip


def stepped(name: str, way: dict[str, bool]) -> tuple[list[Any], Any]:
    """Parameters in two groups, and their optimizer after a step, with new gradients."""
    params = [torch.nn.Parameter(torch.full((n,), 1.0)) for n in (3, 4, 5)]
    optimizer = MAKE[name]([{"params": params[:2]}, {"params": params[2:]}], **way)
    for _ in range(2):
        for p in params:
            p.grad = torch.ones_like(p)
        if not optimizer.state[params[0]] or _ == 0:
            optimizer.step()
    return params, optimizer


def everything(params: list[Any], optimizer: Any) -> Any:
    return copy.deepcopy(([p.detach() for p in params], optimizer.state_dict()["state"]))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return bool(a == b)


def spoiled(state: dict[str, Any], how: str) -> None:
    """Spoils the state of the last parameter, the only one of its group."""
    last = state["state"][2]
    key = [k for k, v in last.items() if isinstance(v, torch.Tensor) and v.ndim][-1]
    last[key] = {
        "longer": torch.ones(7),
        "one element": torch.ones(1),
        "more dimensions": torch.ones(5, 5),
    }[how]


@pytest.mark.parametrize("how", ["longer", "one element", "more dimensions"])
@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_loaded_state_of_the_wrong_shape_changes_nothing(
    name: str, way: dict[str, bool], how: str
) -> None:
    params, optimizer = stepped(name, way)
    state = copy.deepcopy(optimizer.state_dict())
    spoiled(state, how)
    optimizer.load_state_dict(state)
    before = everything(params, optimizer)
    for _ in range(2):  # the second time too
        with pytest.raises(RuntimeError, match=r"must match the size|doesn't match the broadcast"):
            optimizer.step()
        assert same(before, everything(params, optimizer))


@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_good_state_that_is_loaded_again_steps(name: str, way: dict[str, bool]) -> None:
    params, optimizer = stepped(name, way)
    good = copy.deepcopy(optimizer.state_dict())
    bad = copy.deepcopy(good)
    spoiled(bad, "longer")
    optimizer.load_state_dict(bad)
    with pytest.raises(RuntimeError):
        optimizer.step()
    optimizer.load_state_dict(good)
    optimizer.step()
    others, twin = stepped(name, way)
    twin.step()
    assert same(everything(params, optimizer), everything(others, twin))


@pytest.mark.parametrize(
    ("name", "way"), [case for case in CASES if case[0] not in ("SGD", "Adagrad")]
)
def test_a_sparse_gradient_that_is_refused_changes_nothing(name: str, way: dict[str, bool]) -> None:
    params, optimizer = stepped(name, way)
    params[1].grad = torch.ones(4).to_sparse()
    before = everything(params, optimizer)
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert same(before, everything(params, optimizer))


@pytest.mark.parametrize("name", MAKE)
def test_a_state_spoiled_by_hand_is_told_in_the_words_of_the_operation(name: str) -> None:
    params, optimizer = stepped(name, {})
    state = optimizer.state[params[1]]
    key = [k for k, v in state.items() if isinstance(v, torch.Tensor) and v.ndim][-1]
    state[key] = torch.ones(7)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        optimizer.step()


FACTORED: dict[str, Callable[[list[Any]], Any]] = {
    "Adafactor": lambda ps: torch.optim.Adafactor(ps, lr=0.1),
    "Muon": lambda ps: torch.optim.Muon(ps, lr=0.1),
    "SparseAdam": lambda ps: torch.optim.SparseAdam(ps, lr=0.1),
}
SPOILED: dict[str, Callable[[], Any]] = {
    "longer": lambda: torch.ones(7),
    "no dimensions": lambda: torch.tensor(1.0),
    "whole numbers": lambda: torch.ones(4, 3, dtype=torch.int64),
    "shared memory": lambda: torch.ones(1).expand(4, 3),
    "none": lambda: None,
}


def matrices(name: str) -> tuple[list[Any], Any]:
    """Matrices and their optimizer after a step, with new gradients."""
    params = [torch.nn.Parameter(torch.full((n, 3), 1.0)) for n in (2, 4)]
    optimizer = FACTORED[name](params)
    for _ in range(2):
        for p in params:
            grad = torch.ones_like(p)
            p.grad = grad.to_sparse(1) if name == "SparseAdam" else grad
        if not optimizer.state:
            optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize("name", FACTORED)
def test_a_spoiled_state_of_a_matrix_changes_nothing(name: str, how: str) -> None:
    count = len(matrices(name)[1].state_dict()["state"][1])
    for place in range(count):
        params, optimizer = matrices(name)
        state = optimizer.state[params[1]]
        key = list(state)[place]
        if key == "step":
            continue
        state[key] = SPOILED[how]()
        before = [p.detach().clone() for p in params]
        first = copy.deepcopy(optimizer.state[params[0]])
        with pytest.raises((RuntimeError, AttributeError, AssertionError)):
            optimizer.step()
        assert same(before, [p.detach() for p in params])
        assert same(first, optimizer.state[params[0]])


def test_muon_refuses_its_options_before_anything_is_changed() -> None:
    for options, text in (
        ({"ns_steps": 100}, "Number of steps must be less than 100"),
        ({"ns_coefficients": (1.0, 2.0)}, "Coefficients must be a tuple of exactly 3 values"),
    ):
        params, optimizer = matrices("Muon")
        optimizer.param_groups[0].update(options)
        before = everything(params, optimizer)
        with pytest.raises(ValueError, match=text):
            optimizer.step()
        assert same(before, everything(params, optimizer))


def test_sparse_adam_refuses_parameters_by_their_places() -> None:
    sparse = torch.nn.Parameter(torch.eye(2).to_sparse())
    with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 1\]\]: SparseAdam req"):
        torch.optim.SparseAdam([torch.nn.Parameter(torch.ones(2)), sparse])


@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
def test_lbfgs_refuses_a_rate_that_requires_grad(shape: tuple[int, ...]) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    rate = torch.full(shape, 0.1, requires_grad=True)

    def loss() -> Any:
        p.grad = None
        found = (p * p * torch.arange(1.0, 4.0)).sum()
        found.backward()
        return found

    with pytest.raises(TypeError, match="argument 'alpha' must be Number, not Tensor"):
        torch.optim.LBFGS([p], lr=rate).step(loss)
    torch.optim.LBFGS([p], lr=rate.detach()).step(loss)
    optimizer = torch.optim.LBFGS([p])
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(2))]})
    with pytest.raises(AssertionError, match="Expected exactly one param_group, but got 2"):
        optimizer.step(loss)


def test_lbfgs_keeps_no_change_that_is_not_a_number() -> None:
    p = torch.nn.Parameter(torch.ones(3))

    def loss() -> Any:
        p.grad = None
        found = (p * p * torch.arange(1.0, 4.0)).sum()
        found.backward()
        return found

    optimizer = torch.optim.LBFGS([p], lr=0.1, max_iter=3)
    optimizer.step(loss)
    optimizer.state[p]["prev_flat_grad"].fill_(float("nan"))
    optimizer.step(loss)
    assert bool(p.isfinite().all())


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("Adam", {"lr": None}, "'<=' not supported between instances of 'float' and 'NoneType'"),
    ("Muon", {"lr": "x"}, "'<=' not supported between instances of 'float' and 'str'"),
    ("Adafactor", {"beta2_decay": []}, "'>=' not supported .* of 'float' and 'list'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "text"), WRONG)
def test_options_of_wrong_types_are_told_as_in_pytorch(
    name: str, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(2, 2))], **options)


def test_betas_are_taken_one_by_one() -> None:
    p = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(IndexError, match="tuple index out of range"):
        torch.optim.Adam([p], betas=(0.9,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Invalid beta parameter at index 0: 2"):
        torch.optim.SparseAdam([p], betas=(2,))  # type: ignore[arg-type]
