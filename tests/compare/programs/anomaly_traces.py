"""Anomaly mode: what the traces contain, and how modes nest and end."""

import warnings

import torch
from observation import outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _warned(action) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome(action)
    return [str(w.message) for w in caught]


def the_trace_ends_at_the_line_of_the_operation() -> None:
    x = _leaf(-1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x.sqrt()
        texts = _warned(y.backward)
    lines = texts[0].splitlines()
    print(lines[0])
    print([line.strip() for line in lines if "sqrt" in line])


def a_helper_function_is_in_the_trace() -> None:
    def helper(t):
        return t.log().sum()

    x = _leaf(-1.0, 1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = (helper(x) * 0.0) / 0.0
        texts = _warned(y.backward)
    print([line.strip() for line in texts[0].splitlines() if "/ 0.0" in line])


def metadata_holds_lines_of_text() -> None:
    with torch.autograd.set_detect_anomaly(True):
        y = _leaf(1.0) * 2
    lines = y.grad_fn.metadata["traceback_"]
    print(type(lines).__name__, all(isinstance(line, str) for line in lines))
    print("y = _leaf(1.0) * 2" in lines[-1], "metadata_holds" in lines[-1])


def in_place_operations_have_traces() -> None:
    x = _leaf(-1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x * 1
        y.sqrt_()
        texts = _warned(y.backward)
    print([line.strip() for line in texts[0].splitlines() if "sqrt_" in line])


def views_and_lists_have_traces() -> None:
    x = _leaf(1.0, 2.0)
    with torch.autograd.set_detect_anomaly(True):
        for t in (x[0], torch.cat([x, x]), x.split(1)[0], x.max(0)[0], torch.stack([x, x])):
            print("traceback_" in t.grad_fn.metadata, t.grad_fn.name())


def modes_restore_what_was_before() -> None:
    def state() -> tuple[bool, bool]:
        return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        print(state())
        with torch.autograd.set_detect_anomaly(False):
            print(state())
        print(state())
    print(state())
    torch.autograd.set_detect_anomaly(True)
    print(state())
    torch.autograd.set_detect_anomaly(False)
    print(state())


def the_mode_ends_with_an_exception() -> None:
    try:
        with torch.autograd.detect_anomaly():
            raise ValueError
    except ValueError:
        print(torch.is_anomaly_enabled())


def infinite_gradients_are_no_anomaly() -> None:
    x = _leaf(0.0)
    with torch.autograd.set_detect_anomaly(True):
        x.sqrt().backward()
    print(x.grad)


def nan_in_one_of_several_gradients() -> None:
    x, y = _leaf(0.0), _leaf(0.0)
    with torch.autograd.set_detect_anomaly(True):
        z = x / y
        texts = _warned(z.backward)
    print(texts[0].splitlines()[0])


def nan_in_a_large_gradient() -> None:
    x = torch.ones(1000, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x * torch.tensor([1.0] * 999 + [float("nan")])
        texts = _warned(lambda: y.sum().backward())
    print(texts[0].splitlines()[0])


def a_hook_that_makes_nan_is_found_further_on() -> None:
    x = _leaf(1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x * 2
        z = y * 3
        y.register_hook(lambda g: g * float("nan"))
        texts = _warned(z.backward)
    print(texts[0].splitlines()[0])


def the_gradient_is_the_same_in_anomaly_mode() -> None:
    x = _leaf(1.0, 2.0)
    (x.exp() * x.sin()).sum().backward()
    plain = x.grad.clone()
    x.grad = None
    with torch.autograd.set_detect_anomaly(True):
        (x.exp() * x.sin()).sum().backward()
    print(torch.equal(x.grad, plain))
