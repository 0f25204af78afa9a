"""Programs of several processes: messages with gradients, uneven batches, compressed gradients."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import importlib
import warnings

from programs import failing, program


def functional(torch):
    warnings.simplefilter("ignore")
    return importlib.import_module(f"{torch.__name__}.distributed.nn.functional")


def with_gradient(torch, call, x):
    """What a call gives, and the gradient of its square."""
    x = x.clone().requires_grad_()
    out = call(x)
    parts = out if isinstance(out, tuple) else (out,)
    sum((part * part * (i + 1)).sum() for i, part in enumerate(parts)).backward()
    return [out, x.grad]


@program
def gradients_through_messages_of_all(torch, dist, rank, size):
    f = functional(torch)
    x = torch.arange(6.0).reshape(3, 2) + rank
    some = torch.arange(float(size * 2)).reshape(size, 2) + rank
    parts = lambda t: list(t.unbind(0))  # noqa: E731
    empty = lambda: [torch.zeros(2) for _ in range(size)]  # noqa: E731
    return [
        with_gradient(torch, f.all_reduce, x),
        with_gradient(torch, f.all_gather, x),
        with_gradient(torch, lambda t: f.reduce_scatter(torch.zeros(2), parts(t)), some),
        with_gradient(torch, lambda t: f.all_to_all(empty(), parts(t)), some),
        with_gradient(torch, lambda t: f.all_to_all_single(torch.zeros(size, 2), t), some),
    ]


@program
def gradients_through_messages_of_one(torch, dist, rank, size):
    f = functional(torch)
    x = torch.arange(6.0).reshape(3, 2) + rank
    out = [
        with_gradient(torch, lambda t: f.broadcast(t, 1), x),
        with_gradient(torch, lambda t: f.gather(t, 1), x),
        with_gradient(torch, lambda t: f.scatter([t * i for i in range(size)], 1), x),
    ]
    y = x.clone().requires_grad_()
    total = f.reduce(y, 1)
    (total * (rank + 1)).sum().backward()
    return [out, total if rank == 1 else None, y.grad]


@program
def messages_that_give_their_result(torch, dist, rank, size):
    c = importlib.import_module(f"{torch.__name__}.distributed._functional_collectives")
    x = torch.arange(4.0 * size).reshape(2 * size, 2) + rank
    world = dist.group.WORLD
    gathered = lambda t: c.all_gather_tensor(t, 1, world) * 1  # noqa: E731
    scattered = lambda t: c.reduce_scatter_tensor(t, "avg", 0, world) * 1  # noqa: E731
    return [
        with_gradient(torch, lambda t: c.all_reduce(t, "sum", world) * 1, x),
        with_gradient(torch, gathered, x),
        with_gradient(torch, lambda t: c.reduce_scatter_tensor(t, "sum", 0, world) * 1, x),
        scattered(x),
        with_gradient(
            torch, lambda t: c.all_to_all_single_autograd(t, [2] * size, [2] * size, world) * 1, x
        ),
        c.all_reduce(x, "max", world) * 1,
    ]


def stepped_unevenly(torch, dist, rank, size, join, **options):
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Tanh(), torch.nn.Linear(6, 2)
    )
    parallel = torch.nn.parallel.DistributedDataParallel(model, **options)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    losses = []
    with parallel.join(**join):
        for step in range(2 + 2 * rank):
            x = torch.sin(torch.arange(12.0).reshape(3, 4) * (rank + 1) + step)
            optimizer.zero_grad()
            loss = parallel(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss)
    return [losses, model.state_dict()]


@program
def ranks_with_uneven_numbers_of_batches(torch, dist, rank, size):
    out = stepped_unevenly(torch, dist, rank, size, {})
    fewer = stepped_unevenly(torch, dist, rank, size, {"divide_by_initial_world_size": False})
    unused = stepped_unevenly(torch, dist, rank, size, {}, find_unused_parameters=True)
    return [out, fewer, unused]


@program
def a_rank_without_batches_may_end_all(torch, dist, rank, size):
    def steps():
        stepped_unevenly(torch, dist, min(rank, 1), size, {"throw_on_early_termination": True})

    return failing(steps)


def compressed(torch, hook_of, steps=4):
    hooks = importlib.import_module(f"{torch.__name__}.distributed.algorithms.ddp_comm_hooks")
    load = lambda name: importlib.import_module(f"{hooks.__name__}.{name}")  # noqa: E731
    rank = torch.distributed.get_rank()
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 12), torch.nn.Tanh(), torch.nn.Linear(12, 12), torch.nn.Tanh(),
        torch.nn.Linear(12, 3),
    )  # fmt: skip
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    hook_of(hooks, load, parallel)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05)
    losses = []
    for step in range(steps):
        x = torch.sin(torch.arange(40.0).reshape(5, 8) * (rank + 1) + step)
        optimizer.zero_grad()
        loss = parallel(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return [losses, model.state_dict()]


@program
def gradients_sent_in_16_bits(torch, dist, rank, size):
    def by_name(name):
        return lambda hooks, load, parallel: parallel.register_comm_hook(
            None, getattr(load("default_hooks"), name)
        )

    def wrapped(hooks, load, parallel):
        d = load("default_hooks")
        parallel.register_comm_hook(None, d.fp16_compress_wrapper(d.allreduce_hook))

    def registered(hooks, load, parallel):
        hooks.register_ddp_comm_hook(hooks.DDPCommHookType.FP16_COMPRESS, parallel)

    makers = [by_name("allreduce_hook"), by_name("fp16_compress_hook"), wrapped, registered]
    runs = [compressed(torch, make) for make in makers]
    if size == 2:
        return runs
    # Sums of three and more in 16 bits depend on their order: they are near those in 32 bits.
    exact = torch.stack(runs[0][0])
    return [bool((torch.stack(losses) - exact).abs().max() < 1e-3) for losses, _ in runs]


@program
def gradients_sent_as_narrow_matrices(torch, dist, rank, size):
    def power(name, **options):
        def register(hooks, load, parallel):
            p = load("powerSGD_hook")
            state = p.PowerSGDState(None, start_powerSGD_iter=2, **options)
            parallel.register_comm_hook(state, getattr(p, name))

        return register

    makers = [
        power("powerSGD_hook"),
        power("powerSGD_hook", matrix_approximation_rank=2, batch_tensors_with_same_shape=True),
        power("powerSGD_hook", warm_start=False, min_compression_rate=1),
    ]
    return [compressed(torch, make, 5) for make in makers]


@program
def batch_norm_over_all_ranks(torch, dist, rank, size):
    # PyTorch has no SyncBatchNorm on the CPU: there the whole batch is given to a plain one.
    torch.manual_seed(0)
    out = []
    for shape in ((4, 3), (4, 3, 2, 2)):
        plain = torch.nn.BatchNorm1d(3) if len(shape) == 2 else torch.nn.BatchNorm2d(3)
        plain.double()
        with torch.no_grad():
            plain.weight.copy_(torch.tensor([1.0, 2.0, 0.5]))
        whole = torch.randn(size * 4, *shape[1:]).double()
        mine = slice(rank * 4, rank * 4 + 4)
        if torch.__name__ == "torch":
            x = whole.clone().requires_grad_()
            y = plain(x)
            (y * y * y).sum().backward()
            y, grad, weight = y[mine], x.grad[mine], plain.weight.grad
        else:
            layer = torch.nn.SyncBatchNorm.convert_sync_batchnorm(plain)
            x = whole[mine].clone().requires_grad_()
            y = layer(x)
            (y * y * y).sum().backward()
            weight = layer.weight.grad
            dist.all_reduce(weight)
            grad = x.grad
        out.append([y, grad, weight, plain.running_mean, plain.running_var])
    return out


@program
def buffers_are_those_of_the_first_rank_where_a_forward_takes_them(torch, dist, rank, size):
    made = torch.Generator().manual_seed(rank)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4, bias=False), torch.nn.BatchNorm1d(4))
    model = torch.nn.parallel.DistributedDataParallel(net)
    out = []

    def forward(train, grad):
        model.train(train)
        with torch.set_grad_enabled(grad):
            y = model(torch.randn(5, 3, generator=made))
        if grad and train:
            y.square().sum().backward()
        norm = net[1]
        out.append([norm.running_mean.clone(), norm.num_batches_tracked.clone()])

    for train, grad in ((True, True), (False, False), (True, False), (True, False), (True, True)):
        forward(train, grad)
    forward(False, True)
    with model.no_sync():
        forward(True, True)
        forward(True, True)
    forward(True, True)
    return out


@program
def buffers_that_forwards_leave_alone(torch, dist, rank, size):
    out = []
    for options in ({}, {"broadcast_buffers": False}, {"forward_sync_buffers": False},
                    {"forward_sync_buffers": True, "broadcast_buffers": False}):  # fmt: skip
        torch.manual_seed(0)
        norm = torch.nn.BatchNorm1d(3)
        norm.running_mean.fill_(rank + 1.0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = torch.nn.parallel.DistributedDataParallel(norm, **options)
        first = norm.running_mean.clone()
        model(torch.ones(2, 3) * rank).sum().backward()
        model(torch.ones(2, 3) * rank).sum().backward()
        about = [str(one.message) for one in told if "buffers" in str(one.message)]
        both = model.broadcast_buffers, model.forward_sync_buffers
        out.append([options, first, norm.running_mean.clone(), about, both])
    return out


@program
def what_a_module_of_several_ranks_tells_of_itself(torch, dist, rank, size):
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    model = torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=2)
    told = model._get_ddp_logging_data()
    same = ("module_name", "bucket_sizes", "dtypes", "device_ids", "world_size", "rank",
            "backend_name", "bucket_cap_bytes", "broadcast_buffers", "find_unused_parameters",
            "gradient_as_bucket_view", "has_sync_bn", "is_multi_device_module", "iteration",
            "num_parameter_tensors", "output_device", "total_parameter_size_bytes",
            "gloo_socket_ifname", "torch_distributed_debug")  # fmt: skip
    return {name: told[name] for name in same}


def sparse_of(torch, places, values, shape):
    return torch.sparse_coo_tensor(torch.tensor(places), torch.tensor(values), shape)


def parts_of(x):
    return [x.is_coalesced(), x._indices(), x._values(), x.dtype == x._values().dtype]


@program
def sums_of_sparse_tensors(torch, dist, rank, size):
    def summed(x):
        before = x._values()
        work = dist.all_reduce(x, async_op=rank == 1)
        if rank == 1:
            work.wait()
        return [*parts_of(x), before]

    none = torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.long), torch.zeros(0), (5,))
    count = rank + 1
    return [
        summed(sparse_of(torch, [[0, 2 + rank, 0]], [1.0, 2.0, 3.0], (8,))),
        summed(sparse_of(torch, [[4, 1]], [[1.0, rank], [3.0, 4.0]], (5, 2))),
        summed(sparse_of(torch, [[0, rank], [1, 1]], [1.0, 3.0], (5, 2))),
        summed(sparse_of(torch, [list(range(count))], [float(rank)] * count, (8,))),
        summed(sparse_of(torch, [[1]], [2.0], (5,)) if rank == 0 else none.clone()),
        summed(none.clone()),
        summed(sparse_of(torch, [[0, 2]], [rank, 2], (5,))),
        summed(sparse_of(torch, [[0, 2]], [rank / 2, 2.0], (5,)).double()),
    ]


@program
def messages_that_sparse_tensors_cannot_be(torch, dist, rank, size):
    x = sparse_of(torch, [[0, 2]], [1.0, 2.0], (5,))
    places = [torch.zeros(5) for _ in range(size)]

    def refused(call):
        error = failing(call)
        return [error[0], error[1].partition(" backend.")[0]]

    def largest():
        dist.all_reduce(x, dist.ReduceOp.MAX)

    return [
        failing(largest),
        refused(lambda: dist.broadcast(x, 0)),
        refused(lambda: dist.reduce(x, 0)),
        refused(lambda: dist.all_gather(places, x)),
        refused(lambda: dist.gather(x, places if rank == 0 else None)),
        refused(lambda: dist.send(x, (rank + 1) % size)),
        refused(lambda: dist.all_reduce(torch.eye(3).to_sparse_csr())),
    ]


@program
def gradients_of_the_rows_that_were_read(torch, dist, rank, size):
    def steps(bag, hooked=False, **options):
        torch.manual_seed(0)
        kind = torch.nn.EmbeddingBag if bag else torch.nn.Embedding
        net = torch.nn.Sequential(kind(8, 3, sparse=True), torch.nn.Linear(3, 2))
        model = torch.nn.parallel.DistributedDataParallel(net, **options)
        if hooked:
            hooks = importlib.import_module(
                f"{torch.__name__}.distributed.algorithms.ddp_comm_hooks.default_hooks"
            )
            model.register_comm_hook(None, hooks.allreduce_hook)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        seen = []
        for step in range(3):
            optimizer.zero_grad(set_to_none=step != 1)
            if step == 2:
                with model.no_sync():
                    model(torch.tensor([[5, rank]])).square().sum().backward()
            model(torch.tensor([[rank, 2, rank + step]])).square().sum().backward()
            grad = net[0].weight.grad
            seen.append([*parts_of(grad), net[1].weight.grad.clone()])
            optimizer.step()
        return [seen, net.state_dict()]

    return [
        steps(False), steps(True), steps(False, True), steps(False, gradient_as_bucket_view=True),
        steps(False, find_unused_parameters=True), steps(False, static_graph=True),
        steps(False, bucket_cap_mb=0.00001),
    ]  # fmt: skip


@program
def collectives_that_start_together(torch, dist, rank, size):
    together = dist.distributed_c10d._coalescing_manager
    row = lambda: torch.arange(2.0 * size) + rank  # noqa: E731
    a, b = row(), row() * 2
    with together():
        before = dist.all_reduce(a), dist.all_reduce(b, async_op=True)
        kept = a.clone()  # nothing is sent before the block ends
    c, d = torch.zeros(2 * size * size), torch.zeros(2 * size * size)
    with together(async_ops=True) as manager:
        dist.all_gather_into_tensor(c, row())
        dist.all_gather_into_tensor(d, row() * 2)
    manager.wait()
    e, g = torch.zeros(2), torch.zeros(2)
    with together():
        dist.reduce_scatter_tensor(e, row())
        dist.reduce_scatter_tensor(g, row() * 2)
    h = row()
    with together():
        dist.all_reduce(h)
        dist.broadcast(h, 0)  # is of another kind, and starts at once
    refused = failing(lambda: before[1].wait())
    return [[type(w).__name__ for w in before], kept, a, b, c, d, e, g, h, refused]


@program
def levels_of_debugging(torch, dist, rank, size):
    level = dist.get_debug_level()
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    group = dist.new_group()
    x = torch.ones(2)
    dist.all_reduce(x, group=group)
    seen = [str(level), str(dist.get_debug_level()), int(dist.DebugLevel.INFO), x]
    dist.set_debug_level_from_env()
    return [*seen, str(dist.get_debug_level())]
