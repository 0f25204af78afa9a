"""The engine: where gradients go, when the graph is freed, in what order nodes run."""

import torch
from observation import near, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def gradients_accumulate_over_calls() -> None:
    x = _leaf(1.0, 2.0)
    for _ in range(3):
        (x * x).sum().backward()
        print(x.grad)


def accumulation_is_in_place_and_keeps_the_tensor() -> None:
    x = _leaf(1.0, 2.0)
    x.sum().backward()
    first = x.grad
    x.sum().backward()
    print(first is x.grad, first, first._version)


def accumulation_with_create_graph_makes_a_new_tensor() -> None:
    x = _leaf(1.0, 2.0)
    x.sum().backward()
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    print(first is x.grad, first, x.grad)
    print(x.grad.requires_grad, x.grad.grad_fn)


def the_first_gradient_is_stolen_when_nobody_else_holds_it() -> None:
    x = _leaf(1.0, 2.0)
    seed = torch.ones(2)
    x.backward(seed)
    print(x.grad is seed, x.grad.data_ptr() == seed.data_ptr())
    y = _leaf(1.0, 2.0)
    (y * 1).backward(seed)
    print(y.grad.data_ptr() == seed.data_ptr())


def a_seed_that_passes_two_leaves_is_not_shared() -> None:
    x, y = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    (x + y).backward(torch.ones(2))
    print(x.grad.data_ptr() == y.grad.data_ptr(), x.grad, y.grad)
    x.grad.mul_(5)
    print(y.grad)


def an_expanded_gradient_is_made_dense() -> None:
    x = torch.zeros(2, 3, requires_grad=True)
    x.sum().backward()
    print(x.grad.stride(), x.grad.is_contiguous())
    t = torch.zeros(3, 2).t().requires_grad_()
    t.sum().backward()
    print(t.stride(), t.grad.stride())


def the_gradient_takes_the_layout_of_its_leaf() -> None:
    t = torch.zeros(3, 2).t().requires_grad_()
    (t * torch.ones(2, 3)).sum().backward()
    print(t.grad.stride())
    (t * torch.ones(2, 3)).sum().backward()
    print(t.grad.stride(), t.grad)


def backward_on_a_leaf_sets_its_gradient() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    x.backward()
    print(x.grad)
    x.backward()
    print(x.grad)


def backward_returns_nothing_and_skips_intermediates() -> None:
    x = _leaf(1.0)
    y = x * 2
    z = y * 3
    print(z.backward())
    print(x.grad, y.grad)


def reading_grad_of_an_intermediate_warns() -> None:
    x = _leaf(1.0)
    y = x * 2
    print(y.grad)
    y.retain_grad()
    print(y.grad)
    print((x.detach() * 2).grad)


def inputs_limits_accumulation_to_the_named_leaves() -> None:
    x, y = _leaf(1.0), _leaf(2.0)
    (x * y).backward(inputs=[x])
    print(x.grad, y.grad)
    (x * y).backward(inputs=y)
    print(x.grad, y.grad)


def inputs_may_name_an_intermediate() -> None:
    x = _leaf(3.0)
    y = x * 2
    z = y * y
    z.backward(inputs=[y])
    print(x.grad, y.grad)


def inputs_may_not_be_empty() -> None:
    x = _leaf(3.0)
    outcome((x * 2).backward, inputs=[])
    outcome(torch.autograd.grad, x * 2, [])


def inputs_that_need_no_gradient_are_refused() -> None:
    x, c = _leaf(3.0), torch.ones(1)
    outcome((x * c).backward, inputs=[c])
    outcome(torch.autograd.grad, x * c, c)


def grad_leaves_the_grad_field_alone() -> None:
    x, y = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    got = torch.autograd.grad((x * y).sum(), (x, y))
    print(got, type(got), x.grad, y.grad)


def grad_of_an_intermediate_input() -> None:
    x = _leaf(2.0)
    y = x.exp()
    z = y * x
    print(near(torch.autograd.grad(z, (x, y), retain_graph=True)))
    print(torch.autograd.grad(z, z))


def an_unused_input_raises_unless_allowed() -> None:
    x, y = _leaf(1.0), _leaf(2.0)
    outcome(torch.autograd.grad, x * 2, (x, y))
    outcome(torch.autograd.grad, x * 2, (x, y), allow_unused=True)
    outcome(torch.autograd.grad, x * 2, (x, y), materialize_grads=True)
    outcome(torch.autograd.grad, x * 2, (x, y), materialize_grads=True, allow_unused=False)


def materialized_gradients_have_the_inputs_shape_and_dtype() -> None:
    x = _leaf(1.0)
    y = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    _, g = torch.autograd.grad(x * 2, (x, y), materialize_grads=True)
    print(g, g.requires_grad)
    _, g = torch.autograd.grad(x * 2, (x, y), materialize_grads=True, create_graph=True)
    print(g.requires_grad)


def batched_gradients_are_stacked() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    y = x**2
    print(torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True))
    y = x**2
    outcome(torch.autograd.grad, y, x, torch.ones(3), is_grads_batched=True)


def a_gradient_edge_is_an_output_or_an_input() -> None:
    x = _leaf(2.0)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    leaf = torch.autograd.graph.get_gradient_edge(x)
    print(type(edge).__name__, edge.node, edge.output_nr, leaf.node)
    z = y * 3
    print(torch.autograd.grad(z, [edge, leaf], retain_graph=True))
    print(torch.autograd.grad(edge, x, torch.ones(1)))
    outcome(torch.autograd.graph.get_gradient_edge, torch.ones(1))


def backward_starts_from_a_gradient_edge() -> None:
    x = _leaf(2.0)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    del y
    torch.autograd.backward(edge, torch.ones(1))
    print(x.grad)


def a_graph_root_that_needs_no_gradient_is_refused() -> None:
    outcome(torch.ones(1).backward)
    outcome(torch.autograd.grad, torch.ones(1), torch.ones(1, requires_grad=True))
    outcome(torch.autograd.backward, [torch.ones(1, requires_grad=True), torch.ones(1)])


def a_vector_root_needs_a_gradient() -> None:
    x = _leaf(1.0, 2.0)
    outcome((x * 2).backward)
    outcome(torch.autograd.grad, x * 2, x)
    outcome((x * 2)[:1].backward)
    print(x.grad)


def the_seed_must_have_the_roots_shape() -> None:
    x = _leaf(1.0, 2.0)
    outcome((x * 2).backward, torch.ones(3))
    outcome((x * 2).backward, torch.ones(2, 1))
    outcome((x * 2).backward, torch.tensor(1.0))
    outcome(torch.autograd.grad, x * 2, x, torch.ones(1))


def the_seeds_dtype_is_checked_and_cast() -> None:
    x = _leaf(1.0, 2.0)
    outcome((x * 2).backward, torch.ones(2, dtype=torch.float64))
    print(x.grad)
    outcome((x * 2).backward, torch.ones(2, dtype=torch.int64))
    print(x.grad)
    outcome((x * 2).backward, torch.ones(2, dtype=torch.complex64))


def the_seed_must_be_a_tensor() -> None:
    x = _leaf(1.0)
    outcome((x * 2).backward, 1.0)
    outcome((x * 2).backward, [1.0])
    outcome((x * 2).backward, "one")


def an_integer_root_is_refused() -> None:
    x = _leaf(1.0)
    outcome((x * 2).long().sum().backward)
    outcome((x > 0).sum().backward)
    outcome(x.argmax().backward)


def a_complex_scalar_root_needs_a_gradient() -> None:
    x = torch.tensor(1 + 2j, requires_grad=True)
    outcome((x * x).backward)
    (x * x).backward(torch.tensor(1 + 0j))
    print(x.grad)
    y = torch.tensor(1 + 2j, requires_grad=True)
    (y * y.conj()).real.backward()
    print(y.grad)


def several_roots_add_up() -> None:
    x = _leaf(1.0, 2.0)
    a, b = (x * 2).sum(), (x**2).sum()
    torch.autograd.backward([a, b])
    print(x.grad)
    x.grad = None
    torch.autograd.backward([x * 2, x * 3], [torch.ones(2), torch.tensor([10.0, 20.0])])
    print(x.grad)


def the_number_of_seeds_must_match_the_roots() -> None:
    x = _leaf(1.0)
    outcome(torch.autograd.backward, [x * 2, x * 3], [torch.ones(1)])
    outcome(torch.autograd.grad, [x * 2], [x], [torch.ones(1), torch.ones(1)])


def one_root_twice_counts_twice() -> None:
    x = _leaf(1.0)
    y = (x * 2).sum()
    torch.autograd.backward([y, y])
    print(x.grad)


def a_second_backward_without_retain_graph_raises() -> None:
    x = _leaf(1.0)
    y = x * x
    y.backward()
    outcome(y.backward)
    print(x.grad)


def a_second_backward_is_fine_when_nothing_was_saved() -> None:
    x = _leaf(1.0)
    y = x + 1
    y.backward()
    outcome(y.backward)
    print(x.grad)


def retain_graph_keeps_the_graph_until_a_call_without_it() -> None:
    x = _leaf(2.0)
    y = x**3
    y.backward(retain_graph=True)
    y.backward()
    print(x.grad)
    outcome(y.backward, retain_graph=True)


def create_graph_implies_retain_graph() -> None:
    x = _leaf(2.0)
    y = x**3
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    print(g, torch.autograd.grad(y, x, retain_graph=True))
    print(torch.autograd.grad(g, x))
    outcome(torch.autograd.grad, y, x, create_graph=True, retain_graph=False)


def a_freed_branch_spoils_only_those_who_need_it() -> None:
    x = _leaf(2.0)
    shared = x * x
    a, b = shared * 3, shared + 1
    a.backward()
    outcome(b.backward)
    y = x + 1
    (y * 2).backward()
    outcome((y * 3).backward)


def higher_order_gradients_of_a_power() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    for _ in range(5):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        print(y.item(), y.requires_grad)


def higher_order_gradients_of_a_mixed_expression() -> None:
    x, y = torch.tensor(0.5, requires_grad=True), torch.tensor(1.5, requires_grad=True)
    z = torch.sin(x * y) * torch.exp(-x) / (1 + y**2)
    first = torch.autograd.grad(z, (x, y), create_graph=True)
    second = [near(torch.autograd.grad(g, (x, y), retain_graph=True)) for g in first]
    print(near(first), second)


def a_gradient_that_is_not_differentiable_stops_there() -> None:
    x = _leaf(2.0)
    (g,) = torch.autograd.grad((x * 3).sum(), x, create_graph=True)
    print(g, g.requires_grad, g.grad_fn)
    outcome(g.backward)


def nodes_run_by_falling_sequence_number() -> None:
    x = _leaf(1.0)
    order = []
    a = x * 2
    b = x * 3
    c = a + b
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: order.append(name))
    c.backward()
    print(order)
    y = _leaf(1.0)
    order.clear()
    b = y * 3
    a = y * 2
    c = a + b
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: order.append(name))
    c.backward()
    print(order)


def callbacks_run_when_the_whole_backward_is_done() -> None:
    x = _leaf(1.0)
    order = []

    def queue(g):
        order.append("hook")
        torch.autograd.Variable._execution_engine.queue_callback(lambda: order.append("callback"))

    y = x * 2
    y.register_hook(queue)
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    print(order)
    outcome(torch.autograd.Variable._execution_engine.queue_callback, lambda: None)


def backward_may_run_inside_backward() -> None:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                (inner**2).sum().backward()
            return g * inner.grad

    x = _leaf(3.0)
    Inner.apply(x).backward()
    print(x.grad)


def backward_inside_backward_nests_deeply() -> None:
    class Nest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    y = g.detach().requires_grad_()
                    Nest.apply(y, ctx.depth - 1).sum().backward()
                return y.grad + 1, None
            return g, None

    x = _leaf(3.0)
    Nest.apply(x, 120).backward()
    print(x.grad)


def an_exception_in_a_node_reaches_the_caller_and_the_engine_recovers() -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("no such gradient")

    x = _leaf(3.0)
    outcome(Bad.apply(x).backward)
    print(x.grad)
    (x * 2).backward()
    print(x.grad)


def an_exception_in_a_hook_keeps_what_was_already_accumulated() -> None:
    x, y = _leaf(1.0), _leaf(1.0)
    a = x * 2
    b = y * 3

    def refuse(g):
        raise ValueError("stop here")

    a.register_hook(refuse)
    outcome((a + b).backward)
    print(x.grad, y.grad)


def grad_mode_inside_backward_follows_create_graph() -> None:
    x = _leaf(1.0)
    for create in (False, True):
        y = x * x
        y.register_hook(lambda g: print(torch.is_grad_enabled(), g.requires_grad))
        torch.autograd.grad(y, x, create_graph=create)
    with torch.no_grad():
        y2 = x * x
        print(y2.requires_grad)
    y = x * x
    with torch.no_grad():
        y.backward()
        print(torch.is_grad_enabled(), x.grad)


def backward_with_create_graph_warns_about_a_cycle() -> None:
    x = _leaf(2.0)
    (x**2).backward(create_graph=True)
    print(x.grad)


def an_output_that_is_not_used_gives_an_undefined_gradient() -> None:
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            print(a, b)
            return a + b

    x = _leaf(1.0)
    Two.apply(x)[1].backward()
    print(x.grad)


def a_formula_without_gradient_gives_none_or_zeros() -> None:
    x = _leaf(1.5, -0.5)
    for f in (torch.round, torch.floor, torch.sign, torch.trunc, torch.ceil):
        print(torch.autograd.grad(f(x).sum(), x))
    print((x // 1).requires_grad, (x > 0).requires_grad, torch.argsort(x).requires_grad)
    outcome(torch.autograd.grad, (x // 1).sum(), x)


def the_grad_field_checks_what_is_assigned() -> None:
    x = _leaf(1.0, 2.0)
    for value in (torch.ones(3), torch.ones(2, dtype=torch.float64), 1.0, "g", x, torch.ones(2, 1)):
        try:
            x.grad = value
            print("kept", x.grad)
        except Exception as error:
            print(type(error).__name__, error)
    x.grad = None
    x.grad = torch.ones(2)
    (x * 2).sum().backward()
    print(x.grad)
    del x.grad
    print(x.grad)


def zeroing_a_gradient_in_place_is_seen_by_the_next_backward() -> None:
    x = _leaf(1.0, 2.0)
    (x * x).sum().backward()
    g = x.grad
    x.grad.zero_()
    (x * x).sum().backward()
    print(g is x.grad, x.grad)
    g.detach_()
    print(x.grad)


def a_long_chain_needs_no_recursion() -> None:
    x = _leaf(1.0)
    y = x
    for _ in range(20000):
        y = y + 1
    y.backward()
    print(x.grad)
    del y
    print("freed")


def a_diamond_is_visited_once_per_node() -> None:
    x = _leaf(1.0)
    y = x
    counts = []
    for _ in range(30):
        y = y + y
        y.register_hook(lambda g: counts.append(1))
    y.backward()
    print(x.grad, len(counts))


def unneeded_branches_are_not_run_for_grad() -> None:
    x, w = _leaf(1.0), _leaf(2.0)
    ran = []
    a, b = x * 2, w * 2
    a.register_hook(lambda g: ran.append("a"))
    b.register_hook(lambda g: ran.append("b"))
    torch.autograd.grad((a * b).sum(), w)
    print(ran)


def the_gradient_of_a_broadcast_operand_is_reduced() -> None:
    a = torch.ones(3, 1, requires_grad=True)
    b = torch.ones(4, requires_grad=True)
    c = torch.tensor(2.0, requires_grad=True)
    (a * b * c).sum().backward()
    print(a.grad, b.grad, c.grad)


def the_gradient_has_its_operands_dtype() -> None:
    a = torch.ones(2, dtype=torch.float64, requires_grad=True)
    b = torch.ones(2, dtype=torch.float32, requires_grad=True)
    c = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (a * b * c).sum().backward()
    print(a.grad, b.grad, c.grad)


def keyword_and_positional_arguments_of_backward() -> None:
    x = _leaf(1.0)
    y = x * x
    y.backward(torch.ones(1), True)
    y.backward(gradient=None, retain_graph=True)
    print(x.grad)
    outcome(y.backward, grad=None)
    torch.autograd.backward(tensors=[y], grad_tensors=[torch.ones(1)])
    print(x.grad)
    outcome(torch.autograd.backward, [])
    outcome(torch.autograd.backward, "y")
