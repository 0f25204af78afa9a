"""autograd.functional: what is refused, strict mode, and the vectorized forms."""

import torch
from observation import each, outcome

AF = torch.autograd.functional
_X = torch.tensor([1.0, 2.0, 3.0])
_Y = torch.tensor([2.0, 0.5])
_NAMES = ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp")


def _cubes(x: torch.Tensor) -> torch.Tensor:
    return (x**3).sum()


def _two(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.sum() * y, (x * 2).prod()


def _called(name: str, func, inputs, **options):
    function = getattr(AF, name)
    if name in ("jacobian", "hessian"):
        return function(func, inputs, **options)
    like = inputs
    if name == "vjp":
        like = func(*(inputs if isinstance(inputs, tuple) else (inputs,)))
    ones = (
        tuple(torch.ones_like(x) for x in like)
        if isinstance(like, tuple)
        else torch.ones_like(like)
    )
    return function(func, inputs, ones, **options)


def arguments_that_are_no_tensors() -> None:
    for name in _NAMES:
        function = getattr(AF, name)
        outcome(function, _cubes, 3)
        outcome(function, _cubes, (_X, 3))
        outcome(function, _cubes, [_X])
        outcome(function, _cubes, torch.tensor([1, 2]))


def results_that_are_no_tensors() -> None:
    for name in ("vjp", "jacobian", "hessian"):
        function = getattr(AF, name)
        outcome(function, lambda x: 3, _X)
        outcome(function, lambda x: (x.sum(), 3), _X)
        outcome(function, lambda x: [x.sum()], _X)
        outcome(function, lambda x: None, _X)


def nothing_in_and_nothing_out() -> None:
    for name in _NAMES:
        outcome(getattr(AF, name), lambda: torch.ones(1), ())
        outcome(getattr(AF, name), lambda x: (), _X)


def directions_that_do_not_fit() -> None:
    for name in ("vjp", "jvp", "vhp", "hvp"):
        function = getattr(AF, name)
        for v in (None, _Y, torch.ones(3, 1), (_X, _X), 3, (_X, 3), [_X], torch.ones(())):
            outcome(function, _cubes, _X, v)
            outcome(function, lambda x: (x * 2,), (_X,), v)


def hessians_need_one_element() -> None:
    for name in ("hessian", "vhp", "hvp"):
        outcome(_called, name, lambda x: x * 2, _X)
        outcome(_called, name, lambda x: (_cubes(x),), _X)
        print(_called(name, lambda x: _cubes(x).reshape(1, 1), _X))


def strict_mode_finds_independence() -> None:
    for name in _NAMES:
        print(name)
        for func, inputs in (
            (lambda x: torch.ones(()), _X),
            (lambda x, y: (x**2).sum(), (_X, _Y)),
            (lambda x: x.sum(), _X),
            (lambda x, y: (x**2).sum() + y.sum(), (_X, _Y)),
            (lambda x: (x.detach() ** 2).sum(), _X),
            (lambda x: (x**2).sum().detach().requires_grad_(), _X),
            (_cubes, _X),
        ):
            outcome(_called, name, func, inputs, strict=True)


def strict_mode_of_results_with_a_graph() -> None:
    for name in ("vjp", "jacobian"):
        for func, inputs in (
            (lambda x: x.sum(), _X),
            (lambda x, y: (x**2).sum() + y.sum(), (_X, _Y)),
            (lambda x: x * 2, _X),
            (_cubes, _X),
        ):
            outcome(_called, name, func, inputs, strict=True, create_graph=True)


def strict_mode_of_quadratic_functions() -> None:
    for name in ("hessian", "vhp", "hvp"):
        outcome(_called, name, lambda x: x**2, torch.tensor(2.0), strict=True, create_graph=True)
        outcome(_called, name, lambda x: (x * x).sum(), _X, strict=True, create_graph=True)


def results_without_strict_mode() -> None:
    for name in _NAMES:
        for func, inputs in (
            (lambda x, y: (x**2).sum(), (_X, _Y)),
            (lambda x: x.sum(), _X),
            (lambda x: torch.ones(()), _X),
        ):
            print(_called(name, func, inputs))
    print(_called("jacobian", _two, (_X, _Y)))
    print(_called("jvp", _two, (_X, _Y)), _called("vjp", _two, (_X, _Y)))


def results_follow_the_tuples_of_their_arguments() -> None:
    print(AF.jacobian(lambda x: (_cubes(x),), (_X,)))
    print(AF.jacobian(_cubes, (_X,)), AF.jacobian(lambda x: (_cubes(x),), _X))
    print(AF.hessian(_cubes, (_X,)))


def inside_no_grad() -> None:
    x = _X.clone().requires_grad_()
    with torch.no_grad():
        for name in _NAMES:
            found = _called(name, _cubes, x, create_graph=True)
            found = found if isinstance(found, tuple) else (found,)
            print([g.requires_grad for g in found], [g.tolist() for g in found])


def strategies_that_do_not_go_together() -> None:
    for function, key in ((AF.jacobian, "strategy"), (AF.hessian, "outer_jacobian_strategy")):
        for strategy in ("forward-mode", "foo"):
            for vectorize in (False, True):
                for strict, graph in ((False, False), (True, False), (False, True)):
                    if vectorize and not (strict or graph) and strategy == "forward-mode":
                        continue
                    options = {key: strategy, "strict": strict, "create_graph": graph}
                    outcome(function, _cubes, _X, vectorize=vectorize, **options)


def vectorized_rows() -> None:
    each(
        one=lambda: AF.jacobian(_cubes, _X, vectorize=True),
        two=lambda: AF.jacobian(_two, (_X, _Y), vectorize=True),
        constant=lambda: AF.jacobian(lambda x: torch.ones(1).sum(), _X, vectorize=True),
        unused=lambda: AF.jacobian(lambda x, y: x.sum() ** 2, (_X, _Y), vectorize=True),
        mixed=lambda: AF.jacobian(
            lambda x, y: (x.double() * y.sum()).sum(), (_X, _Y.double()), vectorize=True
        ),
        strict=lambda: AF.jacobian(_cubes, _X, vectorize=True, strict=True),
        strict_first=lambda: AF.jacobian(lambda x: torch.ones(()), _X, vectorize=True, strict=True),
    )


def vectorized_columns() -> None:
    def columns(func, inputs):
        return AF.jacobian(func, inputs, vectorize=True, strategy="forward-mode")

    each(
        one=lambda: columns(_cubes, _X),
        vector=lambda: columns(lambda x: x**2, _X),
        two=lambda: columns(_two, (_X, _Y)),
        one_of_two=lambda: columns(lambda x, y: x.sum() * y.sum(), (_X, _Y)),
        pair_of_one=lambda: columns(lambda x: (x, x * 2), _Y),
        unused=lambda: columns(lambda x, y: x.sum() ** 2, (_X, _Y)),
    )


def vectorized_hessians() -> None:
    def product(x, y):
        return (x**2).sum() * y.sum()

    print(AF.hessian(product, (_X, _Y), vectorize=True))
    print(AF.hessian(_cubes, _X, vectorize=True))
    forward = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    print(AF.hessian(_cubes, _X, **forward).tolist())
    written = AF.hessian(lambda x: x.clone().mul_(x).sum(), _X, **forward)
    print(written.tolist())
