"""Programs of several processes: each gives what it saw on its rank, on PyTorch or on Rushlight.

A program that is to fail fails on every rank before anything is sent, so that the others go on.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import datetime

PROGRAMS = {}


def program(function):
    """Puts a function on the list."""
    PROGRAMS[function.__name__] = function
    return function


def failing(call):
    """The type and text of an error; "no error" where there is none."""
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return "no error"


FLOATS = ("float32", "float64", "float16", "bfloat16")
WHOLE = ("int64", "int32", "uint8", "int8", "bool")


def each(torch, dtypes, make):
    return {name: make(getattr(torch, name)) for name in dtypes}


def reduced(torch, dist, rank, op, dtypes):
    def make(dtype):
        x = torch.tensor([rank + 1, 2, 0, 3 - rank]).to(dtype)
        dist.all_reduce(x, op=getattr(dist.ReduceOp, op))
        return x

    return each(torch, dtypes, make)


@program
def sums(torch, dist, rank, size):
    return reduced(torch, dist, rank, "SUM", (*FLOATS, *WHOLE, "complex64", "complex128"))


@program
def means(torch, dist, rank, size):
    return reduced(torch, dist, rank, "AVG", (*FLOATS, "complex64"))


@program
def products(torch, dist, rank, size):
    return reduced(torch, dist, rank, "PRODUCT", (*FLOATS, *WHOLE))


@program
def smallest(torch, dist, rank, size):
    return reduced(torch, dist, rank, "MIN", (*FLOATS, *WHOLE))


@program
def largest(torch, dist, rank, size):
    return reduced(torch, dist, rank, "MAX", (*FLOATS, *WHOLE))


@program
def bits_in_common(torch, dist, rank, size):
    return reduced(torch, dist, rank, "BAND", WHOLE)


@program
def bits_of_any(torch, dist, rank, size):
    return reduced(torch, dist, rank, "BOR", WHOLE)


@program
def bits_of_one(torch, dist, rank, size):
    return reduced(torch, dist, rank, "BXOR", WHOLE)


@program
def operations_a_dtype_lacks(torch, dist, rank, size):
    ops, x = dist.ReduceOp, torch.ones(2)
    # A refused operation may still stand among those in progress when its error is raised, and a
    # barrier of gloo raises the errors of all that were begun before it: they have their own group.
    apart = dist.new_group(list(range(size)))
    return [
        failing(lambda: dist.all_reduce(x, op=ops.BAND, group=apart)),
        failing(lambda: dist.all_reduce(x, op=ops.BXOR, group=apart)),
        failing(lambda: dist.all_reduce(x + 1j, op=ops.MAX, group=apart)),
        failing(lambda: dist.all_reduce(x + 1j, op=ops.PRODUCT, group=apart)),
        failing(lambda: dist.all_reduce([x])),
        failing(lambda: dist.broadcast(3, 0)),
    ]


@program
def large_sums(torch, dist, rank, size):
    x = torch.arange(100_003, dtype=torch.float32) / (rank + 7)
    dist.all_reduce(x)
    y = torch.arange(50_001, dtype=torch.int64) * (rank + 1)
    dist.all_reduce(y, op=dist.ReduceOp.MAX)
    return [x[::5000], x.double().sum().item(), y.sum().item()]


@program
def sums_on_one_rank(torch, dist, rank, size):
    x = torch.arange(5.0) * (rank + 1)
    dist.reduce(x, 1)
    y = torch.arange(70_000.0) + rank
    dist.reduce(y, dst=0, op=dist.ReduceOp.AVG)
    return [x if rank == 1 else None, y[::9000] if rank == 0 else None]


@program
def coalesced_sums(torch, dist, rank, size):
    tensors = [torch.ones(3) * rank, torch.ones(2) * 2]
    dist.all_reduce_coalesced(tensors)
    return tensors


@program
def broadcasts(torch, dist, rank, size):
    out = []
    for root in range(size):
        x = torch.arange(4.0) * (rank + 1)
        dist.broadcast(x, root)
        out.append(x)
    y = torch.tensor([rank % 2 == 0, True])
    dist.broadcast(y, src=1)
    z = torch.arange(90_000) * rank
    dist.broadcast(z, group_src=size - 1)
    return [out, y, z[-3:]]


@program
def gathered_by_all(torch, dist, rank, size):
    places = [torch.zeros(2, 3) for _ in range(size)]
    dist.all_gather(places, torch.full((2, 3), rank + 0.5))
    numbers = [torch.zeros(1, dtype=torch.int64) for _ in range(size)]
    dist.all_gather(numbers, torch.tensor([rank]))
    return [places, numbers]


@program
def gathered_in_one_tensor(torch, dist, rank, size):
    x = torch.arange(3.0) + 10 * rank
    whole = torch.zeros(3 * size)
    dist.all_gather_into_tensor(whole, x)
    return whole


@program
def gathered_by_one(torch, dist, rank, size):
    out = []
    for root in range(2):
        places = [torch.zeros(2) for _ in range(size)] if rank == root else None
        dist.gather(torch.ones(2) * rank, places, dst=root)
        out.append(places)
    return out


@program
def scattered(torch, dist, rank, size):
    out = []
    for root in range(2):
        x = torch.zeros(2)
        parts = [torch.ones(2) * (10 * root + i) for i in range(size)]
        dist.scatter(x, parts if rank == root else None, src=root)
        out.append(x)
    return out


@program
def reduced_and_scattered(torch, dist, rank, size):
    x = torch.zeros(2)
    dist.reduce_scatter(x, [torch.ones(2) * (rank + i) for i in range(size)])
    y = torch.zeros(3)
    dist.reduce_scatter_tensor(y, torch.arange(3.0 * size) * (rank + 1))
    z = torch.zeros(1, 2)
    whole = torch.arange(2.0 * size).reshape(size, 2)
    dist.reduce_scatter_tensor(z, whole, op=dist.ReduceOp.SUM)
    return [x, y, z]


@program
def all_to_all(torch, dist, rank, size):
    places = [torch.zeros(2) for _ in range(size)]
    dist.all_to_all(places, [torch.full((2,), 10.0 * rank + i) for i in range(size)])
    return places


@program
def all_to_all_in_one_tensor(torch, dist, rank, size):
    even = torch.zeros(2 * size)
    dist.all_to_all_single(even, torch.arange(2.0 * size) + 100 * rank)
    sent = torch.arange(float(size * (rank + 1)))
    lengths = [i + 1 for i in range(size)]
    out = torch.zeros(sum(lengths))
    dist.all_to_all_single(out, sent, lengths, [rank + 1] * size)
    rows = torch.zeros(size, 2)
    dist.all_to_all_single(rows, torch.arange(2.0 * size).reshape(size, 2) * (rank + 1))
    return [even, out, rows]


@program
def too_few_places(torch, dist, rank, size):
    return failing(lambda: dist.all_to_all([torch.ones(1)], [torch.ones(1)] * size))


@program
def messages_around_a_ring(torch, dist, rank, size):
    x, y = torch.ones(3) * rank, torch.zeros(3)
    following, before = (rank + 1) % size, (rank - 1) % size
    works = [dist.isend(x, following, tag=3), dist.irecv(y, before, tag=3)]
    for work in works:
        work.wait()
    z = torch.zeros(2, dtype=torch.int64)
    if rank % 2 == 0:
        dist.send(torch.tensor([rank, 7]), (rank + 1) % size) if rank + 1 < size else None
    else:
        dist.recv(z, rank - 1)
    return [y, z, [work.is_completed() for work in works]]


@program
def messages_by_tag(torch, dist, rank, size):
    a, b = torch.zeros(1), torch.zeros(1)
    if rank == 0:
        first = dist.isend(torch.ones(1), 1, tag=1)
        second = dist.isend(torch.ones(1) * 2, 1, tag=2)
        first.wait()
        second.wait()
    elif rank == 1:
        dist.recv(b, 0, tag=2)
        dist.recv(a, 0, tag=1)
    return [a, b]


@program
def messages_from_anyone(torch, dist, rank, size):
    if rank:
        dist.send(torch.ones(1) * rank, 0)
        return None
    seen = []
    for _ in range(size - 1):
        x = torch.zeros(1)
        source = dist.recv(x)
        seen.append([source, x.item()])
    return sorted(seen)


@program
def batches_of_messages(torch, dist, rank, size):
    x, y = torch.full((4,), float(rank)), torch.zeros(4)
    ops = [
        dist.P2POp(dist.isend, x, (rank + 1) % size),
        dist.P2POp(dist.irecv, y, (rank - 1) % size),
    ]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return y


@program
def messages_to_oneself(torch, dist, rank, size):
    return [
        failing(lambda: dist.send(torch.ones(1), rank)),
        failing(lambda: dist.batch_isend_irecv([1])),
        failing(lambda: dist.P2POp(dist.broadcast, torch.ones(1), 0)),
    ]


@program
def objects(torch, dist, rank, size):
    gathered = [None] * size
    dist.all_gather_object(gathered, {"rank": rank, "text": "x" * rank})
    by_one = [None] * size if rank == 1 else None
    dist.gather_object((rank, [rank]), by_one, dst=1)
    told = [f"from {rank}", {rank: 1}] if rank == 0 else [None, None]
    dist.broadcast_object_list(told, src=0)
    mine = [None]
    dist.scatter_object_list(mine, [f"for {i}" for i in range(size)] if rank == 0 else None, src=0)
    return [gathered, by_one, told, mine]


@program
def objects_from_one_to_another(torch, dist, rank, size):
    if rank == 0:
        dist.send_object_list(["a", {"b": 2}], dst=1)
    elif rank == 1:
        got = [None, None]
        return [dist.recv_object_list(got, src=0), got]
    return None


@program
def works_and_futures(torch, dist, rank, size):
    x = torch.ones(3) * (rank + 1)
    work = dist.all_reduce(x, async_op=True)
    waited = work.wait()
    future = work.get_future()
    doubled = future.then(lambda done: done.value()[0] * 2)
    y = [torch.zeros(1) for _ in range(size)]
    other = dist.all_gather(y, torch.ones(1) * rank, async_op=True)
    other.wait()
    barrier = dist.barrier(async_op=True)
    barrier.wait()
    return [waited, work.is_completed(), x, doubled.wait(), y, barrier.is_completed()]


@program
def several_at_once(torch, dist, rank, size):
    tensors = [torch.full((100 * (i + 1),), float(rank + i)) for i in range(6)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for work in reversed(works):
        work.wait()
    return [tensor[0].item() for tensor in tensors]


@program
def tensors_with_gaps(torch, dist, rank, size):
    x = torch.zeros(4, 3)
    view = x.t()[:, 1:3]
    view += rank + 1
    places = [torch.zeros(2, 2) for _ in range(size)]
    dist.all_gather(places, (torch.arange(4.0).reshape(2, 2) + rank).t().contiguous())
    y = torch.arange(6.0) * (rank + 1)
    dist.broadcast(y[:3], 1)
    dist.all_reduce(y[3:])
    empty = torch.zeros(0)
    dist.all_reduce(empty)
    number = torch.tensor(rank + 1.0)
    dist.all_reduce(number)
    return [x, places, y, empty, number]


@program
def groups_of_some(torch, dist, rank, size):
    first, last = dist.new_group([0, 1]), dist.new_group([size - 1], group_desc="last")
    out = []
    if rank < 2:
        x = torch.ones(2) * (rank + 1)
        dist.all_reduce(x, group=first)
        dist.broadcast(x, src=1, group=first)
        out += [x, dist.get_rank(first), dist.get_world_size(first)]
        out += [dist.get_process_group_ranks(first), dist.get_group_rank(first, 1)]
        out += [dist.get_global_rank(first, 0), failing(lambda: dist.get_global_rank(None, 1))]
    if rank == size - 1:
        y = torch.ones(1) * 5
        dist.all_reduce(y, group=last)
        out += [y, dist.get_rank(last), last.group_desc]
    else:
        out += [dist.get_rank(last), dist.get_world_size(last)]
    dist.barrier()
    return out


@program
def groups_that_cannot_be(torch, dist, rank, size):
    return [
        failing(lambda: dist.new_group(list(range(size + 1)))),
        failing(lambda: dist.new_group([size + 4])),
        failing(lambda: dist.new_group([0, 0])),
    ]


@program
def roots_that_there_are_not(torch, dist, rank, size):
    x = torch.ones(1)
    places = [torch.zeros(1)] * size
    return [
        failing(lambda: dist.broadcast(x, 9)),
        failing(lambda: dist.reduce(x, 9)),
        failing(lambda: dist.broadcast(x)),
        failing(lambda: dist.broadcast(x, 0, group_src=0)),
        failing(lambda: dist.gather(x, None if rank == 0 else places, 0)),
        failing(lambda: dist.scatter(x, None if rank == 0 else places, 0)),
    ]


@program
def lists_that_do_not_fit(torch, dist, rank, size):
    x = torch.ones(2)
    return [
        failing(lambda: dist.all_gather([x] * (size + 1), x)),
        failing(lambda: dist.all_gather([torch.ones(2, dtype=torch.int64)] * size, x)),
        failing(lambda: dist.all_gather(x, x)),
        failing(lambda: dist.reduce_scatter(x, [x] * (size + 1))),
    ]


@program
def subgroups(torch, dist, rank, size):
    mine, all_of_them = dist.new_subgroups(1)
    x = torch.ones(1) * rank
    dist.all_reduce(x, group=mine)
    by_hand, _ = dist.new_subgroups_by_enumeration([[0, 1], [2]] if size > 2 else [[0], [1]])
    y = torch.ones(1) * (rank + 1)
    dist.all_reduce(y, group=by_hand)
    return [x, y, len(all_of_them), failing(lambda: dist.new_subgroups(size + 1))]


@program
def barriers(torch, dist, rank, size):
    dist.barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20))
    return True


@program
def the_store_of_the_group(torch, dist, rank, size):
    store = dist.distributed_c10d._get_default_store()
    store.set(f"mine/{rank}", str(rank))
    values = [store.get(f"mine/{i}") for i in range(size)]
    dist.barrier()
    return [value.decode() for value in values]


@program
def the_same_draws_after_a_broadcast(torch, dist, rank, size):
    seed = torch.tensor([rank + 3])
    dist.broadcast(seed, 0)
    torch.manual_seed(seed.item())
    return torch.randn(3)


# ---- DistributedDataParallel -----------------------------------------------------------------
def trained(torch, dist, rank, size, model, steps=4, make_loss=None, **options):
    """The losses of some steps, each rank on its own data, and the parameters in the end."""
    parallel = torch.nn.parallel.DistributedDataParallel(model, **options)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(steps):
        torch.manual_seed(100 * step + rank)
        x = torch.randn(6, 5)
        optimizer.zero_grad()
        out = parallel(x)
        loss = out.pow(2).mean() if make_loss is None else make_loss(out)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, dict(parallel.state_dict())]


def mlp(torch, rank):
    torch.manual_seed(rank)  # rank 0's parameters are what all start from
    nn = torch.nn
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))


@program
def parallel_training(torch, dist, rank, size):
    return trained(torch, dist, rank, size, mlp(torch, rank))


@program
def parallel_training_in_many_buckets(torch, dist, rank, size):
    return trained(torch, dist, rank, size, mlp(torch, rank), bucket_cap_mb=0.00001)


@program
def parallel_training_with_views(torch, dist, rank, size):
    return trained(torch, dist, rank, size, mlp(torch, rank), gradient_as_bucket_view=True)


@program
def parallel_training_with_buffers(torch, dist, rank, size):
    nn = torch.nn
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    return trained(torch, dist, rank, size, model)


class _Branches:
    """A module whose second branch only even ranks use, and whose third none does."""

    @staticmethod
    def make(torch, rank):
        class Branches(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Linear(5, 2)
                self.b = torch.nn.Linear(5, 2)
                self.c = torch.nn.Linear(5, 2)

            def forward(self, x):
                return self.a(x) + self.b(x) if rank % 2 == 0 else self.a(x)

        torch.manual_seed(rank)
        return Branches()


@program
def parallel_training_with_unused_parameters(torch, dist, rank, size):
    model = _Branches.make(torch, rank)
    out = trained(torch, dist, rank, size, model, find_unused_parameters=True)
    return [out, model.c.weight.grad is None, model.b.weight.grad]


@program
def unused_parameters_that_nobody_looks_for(torch, dist, rank, size):
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})

    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = model

        def forward(self, x):
            return self.parts["a"](x)

    parallel = torch.nn.parallel.DistributedDataParallel(Half())

    def steps():
        for _ in range(2):
            parallel(torch.ones(1, 2)).sum().backward()

    return failing(steps)


@program
def steps_without_reduction(torch, dist, rank, size):
    model = mlp(torch, 0)
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    x = torch.arange(10.0).reshape(2, 5) * (rank + 1) / 10
    with parallel.no_sync():
        parallel(x).sum().backward()
    alone = model[0].weight.grad.clone()
    parallel(x).sum().backward()
    return [alone, model[0].weight.grad]


@program
def a_hook_that_adds_gradients_up(torch, dist, rank, size):
    model = mlp(torch, 0)
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    seen = []

    def hook(state, bucket):
        seen.append([bucket.index(), bucket.is_last(), bucket.buffer().numel()])
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda done: done.value()[0] / (2 * size))

    parallel.register_comm_hook(None, hook)
    parallel(torch.ones(1, 5) * (rank + 1)).sum().backward()
    return [seen, model[0].weight.grad, failing(lambda: parallel.register_comm_hook(None, hook))]


@program
def losses_of_several_outputs(torch, dist, rank, size):
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(5, 2), torch.nn.Linear(5, 2)

        def forward(self, x):
            return {"a": self.a(x), "b": [self.b(x)]}

    torch.manual_seed(rank)
    return trained(
        torch, dist, rank, size, Two(), find_unused_parameters=True,
        make_loss=lambda out: out["a"].sum() + out["b"][0].pow(2).sum(),
    )  # fmt: skip


@program
def samples_of_each_rank(torch, dist, rank, size):
    data = torch.utils.data.TensorDataset(torch.arange(11))
    out = []
    for options in ({"shuffle": False}, {"seed": 3}, {"drop_last": True}):
        sampler = torch.utils.data.DistributedSampler(data, **options)
        sampler.set_epoch(2)
        loader = torch.utils.data.DataLoader(data, batch_size=2, sampler=sampler)
        out.append([batch[0].tolist() for batch in loader])
    return out
