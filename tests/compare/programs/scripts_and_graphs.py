"""Scripts, traces, graphs of fx, futures, and a distributed group of one process."""

import importlib
import warnings

import torch

_T = torch.__name__


def _module(name):
    return importlib.import_module(f"{_T}.{name}")


nn, jit, fx, dist = (_module(name) for name in ("nn", "jit", "fx", "distributed"))


def _told(f):
    try:
        # Rushlight does not repeat that PyTorch advises against TorchScript.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            print(f())
    except Exception as error:
        print(type(error).__name__, error)


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.Tanh(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x, times=2):
        h = torch.sigmoid(self.fc(x)) * times
        a, b = (self.rest(h) + self.scale).chunk(2, dim=-1)
        return {"out": torch.cat([a, b], dim=1).view(x.size(0), -1), "rows": 1 + x.shape[0]}


def a_module_as_a_graph():
    torch.manual_seed(0)
    net = _Net()
    traced = fx.symbolic_trace(net)
    print(traced.graph)
    print([(node.op, node.name) for node in traced.graph.nodes])
    x = torch.randn(2, 3)
    print(torch.equal(traced(x)["out"], net(x)["out"]), sorted(traced.state_dict()))


def a_graph_that_is_changed():
    traced = fx.symbolic_trace(lambda x: torch.tanh(x) + 1)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is torch.tanh:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.sigmoid, node.args)
            node.replace_all_uses_with(new)
            _told(lambda node=node: traced.graph.erase_node(node))
            break
    traced.graph.lint()
    traced.recompile()
    print(traced.graph, traced(torch.zeros(2)))


def what_a_graph_cannot_hold():
    _told(lambda: fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x))
    _told(lambda: fx.symbolic_trace(lambda x: [-y for y in x]))
    _told(lambda: fx.symbolic_trace(lambda x: len(x)))


def scripted_modules():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    scripted = jit.script(net)
    print(scripted, scripted.original_name, jit.script(scripted) is scripted)
    print(isinstance(scripted, jit.ScriptModule), list(scripted.state_dict()))
    x = torch.ones(1, 2)
    scripted(x).sum().backward()
    print(torch.equal(scripted(x), net(x)), net[0].weight.grad)
    print(jit.is_scripting(), jit.is_tracing(), jit.annotate(int, 3), jit.Attribute(3, int))
    _told(lambda: jit.script(3))
    _told(lambda: jit.load("/absent.pt"))
    _told(lambda: jit.freeze(net))
    _told(lambda: jit.freeze(scripted.train()))


def types_of_containers():
    for value, kind in (
        ([1, 2], list[int]),
        ([1, "a"], list[int]),
        ({"a": torch.ones(1)}, dict[str, torch.Tensor]),
        ((1, 2.0), tuple[int, float]),
    ):
        print(jit.isinstance(value, kind))


def futures():
    Future = _module("futures").Future
    one = Future()
    print(one.done())
    one.set_result(3)
    print(one.done(), one.value(), one.wait(), one.then(lambda f: f.value() + 1).wait())
    _told(lambda: one.set_result(4))
    two = Future()
    two.set_exception(ValueError("no"))
    _told(two.wait)
    _told(lambda: jit.wait(jit.fork(lambda x: x + 1, torch.ones(1))))


def a_group_of_one_process():
    print(dist.is_available(), dist.is_initialized())
    for ask in (dist.get_rank, dist.get_world_size, dist.barrier, dist.destroy_process_group):
        _told(ask)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        _told(lambda: dist.init_process_group("gloo"))
        print(dist.get_rank(), dist.get_world_size(), dist.get_backend())
        x, out, places = torch.arange(3.0), torch.zeros(3), [torch.zeros(3)]
        print(dist.all_reduce(x, async_op=True).wait(), dist.all_reduce(x), x)
        dist.all_gather(places, x)
        dist.reduce_scatter(out, [x * 2])
        print(places, out)
        _told(lambda: dist.all_gather([torch.zeros(2)], x))
        _told(lambda: dist.broadcast(x, src=1))
        _told(lambda: dist.send(x, 0))
        parallel = _module("nn.parallel").DistributedDataParallel(nn.Linear(3, 1))
        parallel(torch.ones(2, 3)).sum().backward()
        print(parallel, list(parallel.state_dict()), parallel.module.weight.grad)
        _told(lambda: _module("nn.parallel").DistributedDataParallel(nn.ReLU()))
    finally:
        dist.destroy_process_group()
    print(dist.is_initialized())
