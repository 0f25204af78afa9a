"""Saved tensors: what pack hooks get, in what order; hooks on one value; writes allowed."""

import torch
from observation import near, outcome

G = torch.autograd.graph


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def a_pack_hook_gets_the_tensor_itself() -> None:
    x = _leaf(1.0, 2.0)
    a = x * 2
    seen = []

    def pack(t):
        seen.append(t)
        return t.detach()

    with G.saved_tensors_hooks(pack, lambda t: t):
        y = x * x
        z = a.exp()
    print([t is x for t in seen], seen[2] is z, seen[2].grad_fn is z.grad_fn)
    (y + z).sum().backward()
    print(near(x.grad))


def an_unpacked_leaf_is_an_equal_leaf() -> None:
    x = _leaf(1.0, 2.0)
    with G.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * x
    s = y.grad_fn._saved_self
    print(s is x, s.is_leaf, s.grad_fn, s.requires_grad, s)
    print((s * 2).grad_fn.next_functions[0][0].variable is x)


def an_unpacked_intermediate_has_its_history() -> None:
    x = _leaf(1.0, 2.0)
    a = x * 2
    with G.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = a * a
        z = a.exp()
    print(y.grad_fn._saved_self is a, y.grad_fn._saved_self.grad_fn is a.grad_fn)
    print(z.grad_fn._saved_result is z, z.grad_fn._saved_result.grad_fn is z.grad_fn)


def values_are_packed_by_name_then_results() -> None:
    x, z = _leaf(1.0, 1.0) * 1, _leaf(2.0, 2.0) * 1
    told = []
    with G.saved_tensors_hooks(lambda t: (told.append(t.tolist()), t)[1], lambda t: t):
        for name, action in {
            "mul": lambda: x * z,
            "div": lambda: x / z,
            "atan2": lambda: torch.atan2(x, z),
            "pow": lambda: x**z,
            "addcmul": lambda: torch.addcmul(x, x * 5, z),
            "maximum": lambda: torch.maximum(x, z),
            "hypot": lambda: torch.hypot(x, z),
            "dot": lambda: torch.dot(x, z),
            "where": lambda: torch.where(x > 0, x, z),
            "bmm": lambda: torch.bmm(x.view(1, 1, 2), z.view(1, 2, 1)),
        }.items():
            told.clear()
            action()
            print(name, told)


def a_value_is_unpacked_once_in_a_backward() -> None:
    x, z = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    told = []
    with G.saved_tensors_hooks(lambda t: t, lambda t: (told.append(t.tolist()), t)[1]):
        y = x / z
    y.sum().backward()
    print(told, near(x.grad), near(z.grad))


def an_output_written_in_place_is_packed_after_the_write() -> None:
    x = _leaf(1.0, 2.0)
    told = []
    with G.saved_tensors_hooks(lambda t: (told.append(near(t)), t.clone())[1], lambda t: t):
        y = (x * 1).exp_()
    print(told)
    y.sum().backward()
    print(near(x.grad))


def hooks_on_one_value() -> None:
    x = _leaf(1.0, 2.0)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    print(type(raw).__name__, raw.data is x, raw.unpack_hook)
    raw.register_hooks(lambda t: t * 2, lambda t: t * 3)
    print(y.grad_fn._saved_self, y.grad_fn._saved_other)
    outcome(raw.register_hooks, lambda t: t, lambda t: t)
    outcome(raw.register_hooks, lambda t: t)
    outcome(raw.register_hooks, 1, 2)
    outcome(type(raw))
    y.sum().backward()
    print(x.grad)
    outcome(raw.register_hooks, lambda t: t, lambda t: t)


def hooks_on_a_number_and_on_nothing() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 2
    print(y.grad_fn._saved_other)
    outcome(y.grad_fn._raw_saved_other.register_hooks, lambda t: t, lambda t: t)
    outcome(y.grad_fn._raw_saved_self.register_hooks, lambda t: t, lambda t: t)


def wrong_unpack_hooks() -> None:
    for unpack in (lambda t: None, lambda t: 5, lambda t: torch.ones(3)):
        x = _leaf(1.0, 2.0)
        y = x * x
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, unpack)
        outcome(y.sum().backward)


def hooks_must_be_callable() -> None:
    def enter():
        with G.saved_tensors_hooks(5, 6):
            pass

    outcome(enter)


def a_pack_hook_that_writes_is_refused_for_results_too() -> None:
    def pack(t):
        t.mul_(2)
        return t

    x = _leaf(1.0, 2.0) * 1
    with G.saved_tensors_hooks(pack, lambda t: t):
        outcome(lambda: x * x)
        outcome(lambda: x.exp())
    y = x.exp()
    outcome(y.grad_fn._raw_saved_result.register_hooks, pack, lambda t: t)


def grad_mode_in_hooks() -> None:
    x, told = _leaf(1.0, 2.0), []
    with G.saved_tensors_hooks(
        lambda t: (told.append(torch.is_grad_enabled()), t)[1],
        lambda t: (told.append(torch.is_grad_enabled()), t)[1],
    ):
        y = x * x
    y.sum().backward(create_graph=True)
    print(told)


def the_innermost_hooks_win() -> None:
    x = _leaf(1.0, 2.0)
    with G.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        with G.saved_tensors_hooks(lambda t: t * 3, lambda t: t):
            y = x * x
        z = x * x
    print(near(torch.autograd.grad(y.sum(), x)[0]), near(torch.autograd.grad(z.sum(), x)[0]))


def disabled_hooks() -> None:
    def hooks():
        with G.saved_tensors_hooks(lambda t: t, lambda t: t):
            return "entered"

    def disabled_inside():
        with (
            G.saved_tensors_hooks(lambda t: t, lambda t: t),
            G.disable_saved_tensors_hooks("not now"),
        ):
            return "entered"

    with G.disable_saved_tensors_hooks("outer"):
        outcome(hooks)
        with G.disable_saved_tensors_hooks("inner"):
            outcome(hooks)
        outcome(hooks)
    outcome(hooks)
    outcome(disabled_inside)
    outcome(G.disable_saved_tensors_hooks("as a decorator")(hooks))


def the_stack_of_hooks_by_hand() -> None:
    core = torch._C._autograd
    print(core._saved_tensors_hooks_is_enabled(), core._top_saved_tensors_default_hooks(False))
    core._push_saved_tensors_default_hooks(lambda t: t * 2, lambda t: t)
    x = _leaf(1.0, 2.0)
    y = x * x
    core._pop_saved_tensors_default_hooks()
    y.sum().backward()
    print(x.grad)
    core._saved_tensors_hooks_disable("no")
    print(core._saved_tensors_hooks_get_disabled_error_message())
    core._saved_tensors_hooks_enable()
    print(core._saved_tensors_hooks_is_enabled())


def writes_to_saved_tensors_may_be_allowed() -> None:
    x = _leaf(1.0, 2.0)
    with G.allow_mutation_on_saved_tensors() as context:
        a = x.clone()
        b = a**2
        a.mul_(3)
        print(type(context).__name__, len(context.cloned), len(context.original))
        b.sum().backward()
        print(x.grad, len(context.cloned), len(context.original))


def what_is_written_where_writes_are_allowed() -> None:
    x = _leaf(1.0, 2.0)

    def gradient(y):
        return near(torch.autograd.grad(y.sum(), x)[0])

    with G.allow_mutation_on_saved_tensors():
        a = x.clone()
        b = a.sin()
        c = b.cos()
        b.sin_()
        c.cos_()
        print(gradient(c * 1))
        a = x.clone()
        part = a[0]
        b = a**2
        part.mul_(4)
        print(gradient(b))
        a = torch.ones(2)
        b = a * x
        a.fill_(7)
        print(gradient(b))
        a = torch.ones(2)
        b = a * x
        torch.mul(x.detach(), 5, out=a)
        print(gradient(b))
        b = x * x
        with torch.no_grad():
            x.mul_(2)
        print(gradient(b))


def the_end_of_allowed_writes() -> None:
    x = _leaf(1.0, 2.0)
    with G.allow_mutation_on_saved_tensors():
        b = x.clone() ** 2
    outcome(b.sum().backward)

    def nested():
        with G.allow_mutation_on_saved_tensors(), G.allow_mutation_on_saved_tensors():
            pass

    outcome(nested)
    with G.allow_mutation_on_saved_tensors() as context:
        b = x.clone() ** 2
        context.clear()
        outcome(b.sum().backward)


def values_kept_on_the_cpu() -> None:
    x = _leaf(1.0, 2.0)
    with G.save_on_cpu():
        y = x * x
    print(y.grad_fn._saved_self is x)
    y.sum().backward()
    print(x.grad)
