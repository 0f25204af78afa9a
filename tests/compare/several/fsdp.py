"""Programs of several processes: modules of whose parameters each rank keeps a part."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import functools
import importlib

from programs import failing, program


def model_of(torch, seed=0, dtype="float64"):
    torch.manual_seed(seed)
    nn = torch.nn
    block = lambda: nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 7))  # noqa: E731
    model = nn.Sequential(nn.Linear(5, 7), block(), block(), nn.LayerNorm(7), nn.Linear(7, 3))
    return model.to(getattr(torch, dtype))


def stepped(torch, rank, model, steps=3, clip=None, kind="Adam"):
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.02)
    dtype = next(model.parameters()).dtype
    out = []
    for step in range(steps):
        x = torch.sin(torch.arange(30.0).reshape(6, 5) * (rank + 1) + step)
        optimizer.zero_grad()
        loss = (model(x.to(dtype)).to(dtype) - 0.2).pow(2).mean()
        loss.backward()
        if clip:
            norm = clip(model)
            out.append(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)
        optimizer.step()
        out.append(loss)
    return out, optimizer


def full(state):
    return {k: v.full_tensor() if hasattr(v, "full_tensor") else v for k, v in state.items()}


def fsdp_of(torch):
    return importlib.import_module(f"{torch.__name__}.distributed.fsdp")


def wrapped(torch, f, dtype="float64", **options):
    wrap = importlib.import_module(f"{f.__name__}.wrap")
    block = lambda m: len(list(m.children())) == 3  # noqa: E731
    policy = functools.partial(wrap.lambda_auto_wrap_policy, lambda_fn=block)
    return f.FullyShardedDataParallel(
        model_of(torch, 0, dtype), auto_wrap_policy=policy, device_id=torch.device("cpu"), **options
    )


@program
def modules_cut_in_a_row(torch, dist, rank, size):
    f = fsdp_of(torch)
    out = []
    for name in ("FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD"):
        for pieces in (False, True):
            strategy = getattr(f.ShardingStrategy, name)
            options = {"sharding_strategy": strategy, "use_orig_params": pieces}
            model = wrapped(torch, f, "float32", **options)  # whose norm is refused in 64 bits
            clip = lambda m: m.clip_grad_norm_(0.05)  # noqa: E731
            losses, _ = stepped(torch, rank, model, clip=clip, kind="SGD")
            count = len(f.FullyShardedDataParallel.fsdp_modules(model))
            out.append([name, losses, full(model.state_dict()), count])
    return out


@program
def state_of_modules_cut_in_a_row(torch, dist, rank, size):
    f = fsdp_of(torch)
    own = f.FullyShardedDataParallel
    model = wrapped(torch, f)
    losses, optimizer = stepped(torch, rank, model)
    state, optim_state = model.state_dict(), own.optim_state_dict(model, optimizer)
    other = wrapped(torch, f)
    other.load_state_dict(state)
    after = torch.optim.Adam(other.parameters(), lr=0.02)
    after.load_state_dict(own.optim_state_dict_to_load(other, after, optim_state))
    x = torch.ones(2, 5).double() * rank
    again = []
    for one, steps in ((model, optimizer), (other, after)):
        steps.zero_grad()
        one(x).pow(2).sum().backward()
        steps.step()
        loss = one(x).pow(2).sum()
        loss.backward()
        again.append(loss)
    return [losses, state, optim_state["state"], again]


@program
def gradients_kept_for_later(torch, dist, rank, size):
    f = fsdp_of(torch)
    model = wrapped(torch, f, "float32")
    x = torch.ones(2, 5) * (rank + 1)
    with model.no_sync():
        model(x).pow(2).sum().backward()
    model(x * 2).pow(2).sum().backward()
    norm = model.clip_grad_norm_(1e9)
    rows = importlib.import_module(f"{torch.__name__}.distributed.fsdp")
    other = model_of(torch, 0, "float64")
    rows.fully_shard(other)
    x = x.double()
    other.set_requires_gradient_sync(False)
    other(x).pow(2).sum().backward()
    other.set_requires_gradient_sync(True)
    other(x * 2).pow(2).sum().backward()
    return [norm, {k: p.grad.full_tensor() for k, p in other.named_parameters()}]


@program
def modules_cut_by_rows(torch, dist, rank, size):
    f = fsdp_of(torch)
    out = []
    for kind, again in (("SGD", True), ("Adam", False), ("AdamW", None)):
        model = model_of(torch)
        for part in (model[1], model[2]):
            f.fully_shard(part, reshard_after_forward=again)
        f.fully_shard(model)
        clip = lambda m: torch.nn.utils.clip_grad_norm_(m.parameters(), 0.05)  # noqa: E731
        losses, _ = stepped(torch, rank, model, clip=clip, kind=kind)
        out.append([kind, losses, full(model.state_dict()), type(model).__name__])
        out.append([[str(p.placements), list(p.to_local().shape)] for p in model.parameters()])
    return out


@program
def modules_cut_in_16_bits(torch, dist, rank, size):
    f = fsdp_of(torch)
    half = torch.bfloat16
    policy = f.MixedPrecision(param_dtype=half, reduce_dtype=torch.float32)
    model = wrapped(torch, f, "float32", mixed_precision=policy)
    losses, _ = stepped(torch, rank, model, steps=2, kind="SGD")
    other = model_of(torch, 0, "float32")
    single = torch.float32
    precise = f.MixedPrecisionPolicy(param_dtype=half, reduce_dtype=single, output_dtype=single)
    f.fully_shard(other, mp_policy=precise)
    more, _ = stepped(torch, rank, other, steps=2, kind="SGD")
    y = other(torch.ones(1, 5))
    y.sum().backward()
    near = lambda values: [round(float(v), 2) for v in values]  # noqa: E731
    return [near(losses), near(more), str(y.dtype), str(half)]


@program
def modules_cut_in_hosts_and_alike_on_them(torch, dist, rank, size):
    if size != 4:
        return []
    f = fsdp_of(torch)
    mine, _ = dist.new_subgroups_by_enumeration([[0, 1], [2, 3]])
    alike, _ = dist.new_subgroups_by_enumeration([[0, 2], [1, 3]])
    out = []
    for name in ("HYBRID_SHARD", "_HYBRID_SHARD_ZERO2"):
        strategy = getattr(f.ShardingStrategy, name)
        model = wrapped(
            torch, f, sharding_strategy=strategy, process_group=(mine, alike), use_orig_params=True
        )
        losses, _ = stepped(torch, rank, model)
        out += [losses, full(model.state_dict())]
    mesh = dist.device_mesh.init_device_mesh("cpu", (2, 2), mesh_dim_names=("hosts", "ranks"))
    model = model_of(torch)
    for part in (*model, model):
        if len(list(part.children())) == 3 or part is model:
            f.fully_shard(part, mesh=mesh)
    losses, _ = stepped(torch, rank, model)
    return [*out, losses, full(model.state_dict())]


def named_states(torch):
    return importlib.import_module(f"{torch.__name__}.distributed.checkpoint.state_dict")


def trained_pieces(torch, dist, size, seed):
    """A sharded module and its optimizer after two steps."""
    fsdp = importlib.import_module(f"{torch.__name__}.distributed.fsdp")
    torch.manual_seed(seed)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.BatchNorm1d(7), nn.Linear(7, 2)).double()
    mesh = dist.init_device_mesh("cpu", (size,))
    fsdp.fully_shard(model[0], mesh=mesh)
    fsdp.fully_shard(model, mesh=mesh)
    adam = torch.optim.AdamW(model.parameters(), lr=0.1)
    for step in range(2):
        model(torch.arange(20.0).double().reshape(4, 5).sin() + step).square().sum().backward()
        adam.step()
        adam.zero_grad()
    return model, adam


@program
def whole_dictionaries_of_pieces_and_back(torch, dist, rank, size):
    s = named_states(torch)
    model, adam = trained_pieces(torch, dist, size, 0)
    out = []
    for offload in (False, True):
        options = s.StateDictOptions(full_state_dict=True, cpu_offload=offload)
        out += s.get_state_dict(model, adam, options=options)
    own = s.get_model_state_dict(model)
    out.append({name: list(value.shape) for name, value in own.items()})
    full = s.StateDictOptions(full_state_dict=True)
    states = s.get_state_dict(model, adam, options=full)
    other, second = trained_pieces(torch, dist, size, 1)
    s.set_state_dict(
        other, second, model_state_dict=dict(states[0]), optim_state_dict=states[1], options=full
    )
    out += s.get_state_dict(other, second, options=full)
    first = s.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    third, last = trained_pieces(torch, dist, size, 2)
    given = s.get_state_dict(model, adam, options=full) if rank == 0 else ({}, {})
    if rank != 0:  # what rank 0 has asked for is asked for by all
        s.get_state_dict(model, adam, options=full)
    s.set_model_state_dict(third, dict(given[0]), options=first)
    s.set_optimizer_state_dict(third, last, given[1], options=first)
    out += s.get_state_dict(third, last, options=full)
    out.append(failing(lambda: s.get_model_state_dict(
        model, options=s.StateDictOptions(broadcast_from_rank0=True)
    )))  # fmt: skip
    return out


@program
def methods_that_need_whole_parameters(torch, dist, rank, size):
    f = fsdp_of(torch)
    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.last = torch.nn.Linear(5, 4), torch.nn.Linear(4, 3)

        def encode(self, x, scale=1.0):
            return torch.nn.functional.linear(x, self.last.weight.new_ones(2, 4)) * scale + (
                self.last.bias.sum()
            )

        def fail(self, x):
            raise KeyError("lost")

    net = Net()
    f.fully_shard(net.inner)
    f.fully_shard(net)
    f.register_fsdp_forward_method(net, "encode")
    f.register_fsdp_forward_method(net, "fail")
    plain = torch.nn.Linear(2, 2)
    f.register_fsdp_forward_method(plain, "none")
    x = torch.arange(8.0).reshape(2, 4) * (rank + 1)
    out = net.encode(x, scale=2.0)
    out.sum().backward()
    grad = net.last.bias.grad.full_tensor()
    return [
        out, grad, net.encode.__name__, failing(lambda: net.fail(x)),
        [list(p.shape) for p in net.parameters()],
        failing(lambda: f.register_fsdp_forward_method(net, "none"))[0],
    ]  # fmt: skip
