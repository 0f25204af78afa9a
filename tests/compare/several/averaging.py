"""Programs of several processes: means of parameters, scalers that skip together, replicas."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import copy
import importlib
import warnings

from programs import failing, mlp, program


def module(torch, name):
    return importlib.import_module(f"{torch.__name__}.distributed.{name}")


def stepped(torch, rank, model, optimizer, steps, forward=None):
    losses = []
    for step in range(steps):
        torch.manual_seed(100 * step + rank)
        optimizer.zero_grad()
        loss = (forward or model)(torch.randn(6, 5)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@program
def means_of_parameters(torch, dist, rank, size):
    averaging = "algorithms.model_averaging"
    utils = module(torch, f"{averaging}.utils")
    averagers = module(torch, f"{averaging}.averagers")
    model = mlp(torch, rank)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    utils.average_parameters_or_parameter_groups(model.parameters(), dist.group.WORLD)
    first = {key: value.clone() for key, value in model.state_dict().items()}
    utils.average_parameters(model.parameters(), None)
    outside = dist.new_group([0])
    kept = torch.nn.Parameter(torch.ones(2) * rank)
    utils.average_parameters(iter([kept]), outside)
    averager = averagers.PeriodicModelAverager(period=2, warmup_steps=1)
    seen = []
    weight = torch.nn.Parameter(torch.ones(2) * rank)
    for _ in range(5):
        weight.grad = torch.ones(2)
        averager.average_parameters([weight])
        seen.append([weight.tolist(), averager.step])
        weight.data += rank
    chosen = utils.get_params_to_average([{"params": [weight, torch.nn.Parameter(kept.data)]}])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        averagers.PeriodicModelAverager(1)
    return [
        first, model.state_dict(), kept, seen, len(chosen), str(caught[0].message),
        failing(lambda: averagers.PeriodicModelAverager(0)),
        failing(lambda: averagers.PeriodicModelAverager(2, -1)),
        failing(lambda: utils.get_params_to_average([3])), failing(averagers.ModelAverager)[0],
    ]  # fmt: skip


@program
def means_of_parameters_nearby(torch, dist, rank, size):
    averager_of = module(
        torch, "algorithms.model_averaging.hierarchical_model_averager"
    ).HierarchicalModelAverager
    averager = averager_of({2: 1, 4: size} if size % 2 else {2: 2, 4: size}, warmup_steps=1)
    weight = torch.nn.Parameter(torch.ones(2) * rank)
    seen = []
    for _ in range(6):
        weight.grad = torch.ones(2)
        averager.average_parameters([weight])
        seen.append(weight.tolist())
        weight.data += rank + 1
    return [
        seen, averager.step, failing(lambda: averager_of()), failing(lambda: averager_of({2: 1})),
        failing(lambda: averager_of({0: size})), failing(lambda: averager_of({2: size}, -2)),
    ]  # fmt: skip


@program
def training_with_means_of_parameters(torch, dist, rank, size):
    optim = module(torch, "optim")
    local = module(torch, "algorithms.ddp_comm_hooks.post_localSGD_hook")
    averagers = module(torch, "algorithms.model_averaging.averagers")
    model = torch.nn.parallel.DistributedDataParallel(mlp(torch, rank))
    state = local.PostLocalSGDState(None, None, 2, post_local_gradient_allreduce=False)
    model.register_comm_hook(state, local.post_localSGD_hook)
    inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    optimizer = optim.PostLocalSGDOptimizer(inner, averagers.PeriodicModelAverager(2, 2))
    losses = stepped(torch, rank, model, optimizer, 6)
    saved = copy.deepcopy(optimizer.state_dict())
    optimizer.load_state_dict(saved)
    step = optimizer.averager.step
    del saved["step"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.load_state_dict(saved)
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))], "lr": 0.5})
    return [
        losses, dict(model.state_dict()), step, optimizer.averager.step, str(caught[-1].message),
        repr(optimizer), len(optimizer.param_groups), len(optimizer.state),
        sorted(optimizer.state_dict()),
    ]  # fmt: skip


@program
def scalers_that_skip_together(torch, dist, rank, size):
    scaler_of = module(torch, "fsdp.sharded_grad_scaler").ShardedGradScaler
    out = []
    for group in (dist.group.WORLD, dist.new_group(list(range(size)))):
        scaler = scaler_of(
            "cpu", init_scale=8.0, growth_interval=2, process_group=group, growth_factor=4.0
        )
        w = torch.nn.Parameter(torch.ones(3))
        unused = torch.nn.Parameter(torch.ones(1))
        sgd = torch.optim.SGD([w] if rank == 0 else [w, unused], lr=0.1)
        for step in range(6):
            sgd.zero_grad()
            loss = (w * (float("inf") if step == 1 and rank == size - 1 else rank + 1.0)).sum()
            scaler.scale(loss).backward()
            if step == 3:
                scaler.unscale_(sgd)
            scaler.step(sgd)
            scaler.update()
            out.append([w.tolist(), scaler.get_scale()])
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    scaled = scaler.scale(half * 2)
    several = scaler.scale([half.sum(), torch.ones(1)])
    scaled.sum().backward()
    halves = torch.optim.SGD([half], lr=0.1)
    scaler.unscale_(halves)
    off = scaler_of("cpu", enabled=False)
    same = torch.ones(1)
    return [
        out, str(scaled.dtype), [str(x.dtype) for x in several], half.grad,
        failing(lambda: scaler.unscale_(halves)), off.scale(same) is same, off.get_scale(),
        failing(lambda: scaler_of("cpu", growth_factor=1.0)),
        [scaler.get_growth_factor(), scaler.get_backoff_factor()],
    ]  # fmt: skip


@program
def replicas_that_stay_what_they_are(torch, dist, rank, size):
    replicate = module(torch, "_composable.replicate").replicate
    net = mlp(torch, rank)
    made = replicate(net, bucket_cap_mb=0.00001)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = stepped(torch, rank, made, optimizer, 3)
    net.set_requires_gradient_sync(False)
    net.zero_grad()
    x = torch.arange(10.0).reshape(2, 5) * (rank + 1) / 10
    net(x).sum().backward()
    alone = net[0].weight.grad.clone()
    net.set_requires_gradient_sync(True)
    net(x).sum().backward()
    partly = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Linear(4, 2))
    torch.manual_seed(rank)
    for parameter in partly.parameters():
        torch.nn.init.normal_(parameter)
    own = partly[1].weight.detach().clone()
    replicate(partly, ignored_modules=[partly[1]], device_id=torch.device("cpu"))
    partly(x).sum().backward()
    seen = []

    def hook(state, bucket):
        seen.append(state)
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda done: done.value()[0] / (4 * size))

    hooked = replicate(mlp(torch, rank))
    hooked.register_comm_hook("state", hook)
    hooked(x).sum().backward()
    return [
        made is net, type(net).__name__, [type(part).__name__ for part in net],
        list(net.state_dict()), losses, dict(net.state_dict()), alone, net[0].weight.grad,
        torch.equal(own, partly[1].weight), partly[0].weight.grad, partly[1].weight.grad,
        seen, hooked[0].weight.grad, isinstance(net, torch.nn.Sequential), type(net[:1]).__name__,
        failing(lambda: copy.deepcopy(net)), failing(lambda: replicate(net))[0],
        failing(lambda: replicate(torch.nn.Linear(1, 1), device_id="cpu")),
    ]  # fmt: skip
