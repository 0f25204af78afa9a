"""torch.nn.Module: printing, parameters, state dictionaries, hooks, modes."""

import collections
import copy

import torch
from observation import each, near, outcome

nn = torch.nn


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = nn.Linear(3, 1, bias=False)
        self.register_buffer("scale", torch.ones(1))
        self.register_buffer("hidden", torch.zeros(1), persistent=False)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.second(self.act(self.first(x))) * self.scale


def a_model_prints_its_tree() -> None:
    print(_Net())
    print(nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Dropout(0.1))))
    print(
        nn.Sequential(collections.OrderedDict(a=nn.Linear(1, 1), b=nn.Tanh())),
        nn.Module(),
        nn.Sequential(),
    )
    print(
        nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()]),
        nn.ModuleDict({"x": nn.ReLU()}),
    )


def layers_print_their_arguments() -> None:
    for m in (
        nn.Linear(2, 3, bias=False),
        nn.Conv2d(3, 4, 3, padding=1),
        nn.Conv1d(1, 2, 3, stride=2, dilation=2, groups=1, bias=False),
        nn.ConvTranspose2d(2, 2, 3),
        nn.BatchNorm2d(3),
        nn.LayerNorm(4),
        nn.GroupNorm(2, 4),
        nn.Dropout(0.2),
        nn.Embedding(5, 2, padding_idx=0),
        nn.MaxPool2d(2),
        nn.AvgPool2d(3, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.LSTM(2, 3, num_layers=2, batch_first=True),
        nn.GRU(2, 3),
        nn.RNN(1, 1),
        nn.ReLU(True),
        nn.LeakyReLU(0.2),
        nn.GELU(),
        nn.Softmax(dim=1),
        nn.Softmax(),
        nn.Sigmoid(),
        nn.ELU(),
        nn.Flatten(),
        nn.Unflatten(1, (2, 2)),
        nn.Identity(),
        nn.Upsample(scale_factor=2),
        nn.PReLU(),
        nn.Hardtanh(),
        nn.LSTMCell(1, 2),
        nn.Bilinear(1, 2, 3),
        nn.ZeroPad2d(1),
        nn.MultiheadAttention(4, 2),
        nn.TransformerEncoderLayer(4, 2),
        nn.ParameterList([torch.ones(2)]),
        nn.ParameterDict({"a": torch.ones(1)}),
        nn.CosineSimilarity(),
        nn.PixelShuffle(2),
        nn.Threshold(1, 2),
        nn.Softplus(),
    ):
        print(m)


def parameters_and_children_are_listed_in_order() -> None:
    net = _Net()
    print(
        [(n, tuple(p.shape)) for n, p in net.named_parameters()],
        [n for n, _ in net.named_buffers()],
    )
    print(
        [n for n, _ in net.named_children()],
        [n for n, _ in net.named_modules()],
        len(list(net.modules())),
    )
    print(
        [n for n, _ in net.named_parameters(prefix="p", recurse=False)],
        sum(p.numel() for p in net.parameters()),
    )


def shared_parameters_are_listed_once() -> None:
    a = nn.Linear(2, 2)
    net = nn.Sequential(a, a, nn.Linear(2, 2))
    net[2].weight = a.weight
    print(
        len(list(net.parameters())),
        [n for n, _ in net.named_parameters()],
        list(net.state_dict()),
        [n for n, _ in net.named_parameters(remove_duplicate=False)],
    )


def the_state_dictionary() -> None:
    net = _Net()
    s = net.state_dict()
    print(
        type(s).__name__,
        list(s),
        s["first.weight"].requires_grad,
        s["first.weight"].data_ptr() == net.first.weight.data_ptr(),
    )
    print(
        list(net.state_dict(prefix="m.")),
        list(net.first.state_dict(keep_vars=True).values())[0].requires_grad,
        s._metadata["first"],
    )


def loading_a_state_dictionary() -> None:
    a, b = _Net(), _Net()
    print(b.load_state_dict(a.state_dict()))
    print(
        all(p.equal(q) for p, q in zip(a.parameters(), b.parameters())),
        a.first.weight is b.first.weight,
    )
    s = a.state_dict()
    del s["scale"]
    s["extra"] = torch.ones(1)
    print(b.load_state_dict(s, strict=False))
    keys = b.load_state_dict(s, strict=False)
    print(keys.missing_keys, keys.unexpected_keys)


def errors_of_loading_a_state_dictionary() -> None:
    net = _Net()
    s = dict(net.state_dict())
    each(
        missing=lambda: net.load_state_dict({}),
        unexpected=lambda: net.load_state_dict({**s, "a": torch.ones(1), "b.c": 1}),
        shape=lambda: net.load_state_dict({**s, "scale": torch.ones(2)}),
        several=lambda: net.load_state_dict({"scale": torch.ones(2), "x": 1}),
        kind=lambda: net.load_state_dict({**s, "scale": 5}),
        nothing=lambda: net.load_state_dict([1]),
        shape_lenient=lambda: net.load_state_dict({**s, "scale": torch.ones(2)}, strict=False),
    )


def loading_keeps_dtype_and_can_assign() -> None:
    net = nn.Linear(1, 1)
    net.load_state_dict(
        {"weight": torch.tensor([[2.5]], dtype=torch.float64), "bias": torch.tensor([1])}
    )
    print(net.weight, net.bias)
    net.load_state_dict(
        {"weight": torch.tensor([[2.5]], dtype=torch.float64), "bias": torch.ones(1)}, assign=True
    )
    print(net.weight, net.bias)


def forward_hooks() -> None:
    m = nn.Linear(2, 1, bias=False)
    nn.init.ones_(m.weight)
    a = m.register_forward_pre_hook(lambda mod, args: (args[0] * 2,))
    b = m.register_forward_hook(lambda mod, args, out: print("hook", args, out))
    c = m.register_forward_hook(lambda mod, args, out: out * 10)
    print(m(torch.ones(1, 2)))
    a.remove()
    b.remove()
    print(m(torch.ones(1, 2)))
    c.remove()
    m.register_forward_pre_hook(lambda mod, args: args[0] * 3)
    m.register_forward_hook(lambda mod, args, kwargs, out: print(kwargs), with_kwargs=True)
    print(m(input=torch.ones(1, 2)) if False else m(torch.ones(1, 2)))


def hooks_for_state_dictionaries() -> None:
    net = nn.Linear(1, 1)
    net.register_state_dict_post_hook(
        lambda mod, s, prefix, meta: s.__setitem__(prefix + "note", 1)
    )
    print(list(net.state_dict()))
    net.register_load_state_dict_post_hook(lambda mod, keys: keys.unexpected_keys.clear())
    print(net.load_state_dict(net.state_dict()))


def train_and_eval() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.Linear(1, 1))
    print(
        net.training,
        net.eval() is net,
        net[0].training,
        net(torch.ones(1, 1)).equal(net(torch.ones(1, 1))),
    )
    print(net.train().training, net.train(False)[1].training)
    outcome(net.train, "yes")


def casting_and_moving() -> None:
    net = _Net()
    p = net.first.weight
    print(
        net.double() is net,
        net.first.weight.dtype,
        net.first.weight is p,
        net.scale.dtype,
        net.half().scale.dtype,
        net.float().to(torch.float64).scale.dtype,
        net.to("cpu") is net,
        net.cpu() is net,
    )
    print(net.bfloat16().first.bias.dtype, net.type(torch.float32).scale.dtype)
    outcome(net.to, torch.int64)
    net.requires_grad_(False)
    print([q.requires_grad for q in net.parameters()])


def applying_a_function() -> None:
    net = _Net()
    names = []
    print(net.apply(lambda m: names.append(type(m).__name__)) is net, names)


def zeroing_gradients() -> None:
    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    g = net.weight.grad
    net.zero_grad(set_to_none=False)
    print(g, net.weight.grad is g)
    net.zero_grad()
    print(net.weight.grad)


def attributes_are_routed() -> None:
    net = nn.Module()
    net.w = nn.Parameter(torch.ones(1))
    net.child = nn.ReLU()
    net.plain = torch.ones(1)
    net.number = 5
    print(
        list(net._parameters),
        list(net._modules),
        list(net._buffers),
        "plain" in net.__dict__,
        net.number,
    )
    net.w = None
    print(net.w, list(net._parameters), dict(net.named_parameters()))
    del net.child
    outcome(lambda: net.child)
    outcome(lambda: delattr(net, "nothing"))
    net.buffer = nn.Buffer(torch.ones(1))
    print(list(net._buffers), sorted(dir(net))[-3:])


def forgetting_super_init() -> None:
    class Bad(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    class Bad2(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(torch.ones(1))

    outcome(Bad)
    outcome(Bad2)

    class NoForward(nn.Module):
        pass

    outcome(NoForward(), 1)


def containers() -> None:
    s = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    s.append(nn.Tanh())
    s.insert(0, nn.Identity())
    print(len(s), s[1:3], s[-1], [type(m).__name__ for m in s])
    del s[0]
    s[0] = nn.Sigmoid()
    print(s, s + nn.Sequential(nn.ELU()), s.pop(0))
    outcome(lambda: s[9])
    ml = nn.ModuleList([nn.ReLU()])
    ml.extend([nn.Tanh()])
    print(len(ml), ml[1], list(nn.ModuleDict({"a": nn.ReLU()}).keys()))
    outcome(ml, 1)
    outcome(nn.Sequential, 5)
    md = nn.ModuleDict()
    md["x"] = nn.ReLU()
    print("x" in md, md.pop("x"), len(md))


def getting_submodules_by_name() -> None:
    net = nn.Sequential(_Net())
    print(
        net.get_submodule("0.first"),
        net.get_parameter("0.first.weight").shape,
        net.get_buffer("0.scale"),
    )
    each(
        missing=lambda: net.get_submodule("0.third"),
        parameter=lambda: net.get_parameter("0.scale"),
        buffer=lambda: net.get_buffer("0.first"),
    )


def deep_copies_and_pickles() -> None:
    import pickle

    net = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2))
    twin = copy.deepcopy(net)
    other = pickle.loads(pickle.dumps(net))
    print(
        twin[0].weight.equal(net[0].weight),
        twin[0].weight is net[0].weight,
        other[0].weight.equal(net[0].weight),
        type(other[1].running_mean).__name__,
        other,
    )


def extra_repr_and_nested_repr() -> None:
    class Odd(nn.Module):
        def extra_repr(self):
            return "size=3\nkind=odd"

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Odd()
            self.none = None

        def extra_repr(self):
            return "outer"

    print(Odd(), Outer())


def a_training_loop() -> None:
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(16, 2), torch.randn(16, 1)
    for _ in range(20):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
    print(near(loss), near(net[2].weight))


def recurrent_layers() -> None:
    x = torch.randn(3, 2, 4)
    for m in (nn.LSTM(4, 3), nn.GRU(4, 3, bidirectional=True), nn.RNN(4, 3, nonlinearity="relu")):
        out, hidden = m(x)
        print(near(out[0, 0]), near(hidden[0][0]) if isinstance(hidden, tuple) else near(hidden[0]))
        m.zero_grad()
        out.sum().backward()
        print(near(m.weight_hh_l0.grad[0]))


def clipping_gradients() -> None:
    net = nn.Linear(2, 1)
    (net(torch.ones(4, 2)) * 100).sum().backward()
    print(near(nn.utils.clip_grad_norm_(net.parameters(), 1.0)), near(net.weight.grad))
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    print(near(net.weight.grad), nn.utils.parameters_to_vector(net.parameters()).shape)
    net.weight.grad.fill_(float("nan"))
    outcome(nn.utils.clip_grad_norm_, net.parameters(), 1.0, error_if_nonfinite=True)


def freezing_part_of_a_model() -> None:
    net = _Net()
    for p in net.first.parameters():
        p.requires_grad = False
    net(torch.ones(1, 2)).sum().backward()
    print([(n, p.grad is None) for n, p in net.named_parameters()])
