# ruff: noqa: E501  (tables of expressions)
"""`rushlight.nn` and `torch.nn` on the same expressions: same values, same texts, same errors."""

import copy
import pickle
import re
import warnings
from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")


import rushlight  # noqa: E402
import rushlight.nn  # noqa: E402

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def text(value: Any) -> str:
    """`repr` with what differs by nature taken out: addresses and the package's name."""
    return _ADDRESS.sub("0x", repr(value)).replace("rushlight", "torch")


def outcome(expression: str, names: dict[str, Any]) -> str:
    """What an expression gives, or the error it ends in, as text."""
    try:
        return text(eval(expression, names))
    except Exception as error:
        return f"{type(error).__name__}: {text(str(error))}"


def namespace(package: ModuleType) -> dict[str, Any]:
    package.manual_seed(0)
    nn = package.nn
    names: dict[str, Any] = {
        "T": package,
        "nn": nn,
        "I": nn.init,
        "U": nn.utils,
        "L": nn.Linear,
        "P": lambda *shape: nn.Parameter(package.ones(*shape)),
        "OrderedDict": OrderedDict,
        "copy": copy,
        "pickle": pickle,
    }

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("x", package.ones(2))
            self.register_buffer("y", package.ones(1), persistent=False)
            self.lin = nn.Linear(2, 2)
            self.twin = self.lin
            self.own = nn.Parameter(package.zeros(3))
            self.none = None

    names["Net"] = Net
    names["net"] = Net()
    names["m"] = nn.Linear(2, 2)
    return names


def run(lines: list[str], setup: str = "") -> None:
    results = []
    for package in (torch, rushlight):
        names = namespace(package)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(setup, names)
            results.append([f"{line} -> {outcome(line, names)}" for line in lines])
    different = [pair for pair in zip(*results, strict=True) if pair[0] != pair[1]]
    assert different == []


def test_registration_and_attributes_give_the_same_values_and_errors() -> None:
    run(
        [
            "setattr(m, 'weight', T.ones(2, 2))",
            "setattr(m, 'weight', 'a')",
            "setattr(net, 'x', 'a')",
            "setattr(net, 'lin', 3)",
            "net.register_buffer('x', T.ones(2))",
            "net.register_buffer(3, None)",
            "net.register_buffer('a.b', None)",
            "net.register_buffer('', None)",
            "net.register_buffer('lin', None)",
            "net.register_buffer('q', 3)",
            "net.register_parameter(3, None)",
            "net.register_parameter('a.b', None)",
            "net.register_parameter('', None)",
            "net.register_parameter('train', None)",
            "net.register_parameter('q', T.ones(2))",
            "net.register_parameter('q', 3)",
            "setattr(Net.__new__(Net), 'q', P(2))",
            "setattr(Net.__new__(Net), 'q', m)",
            "setattr(Net.__new__(Net), 'q', nn.Buffer(T.ones(1)))",
            "Net.__new__(Net).q",
            "net.add_module(3, m)",
            "net.add_module('a', 3)",
            "net.add_module('a.b', m)",
            "net.add_module('', m)",
            "net.add_module('x', m)",
            "net.nope",
            "delattr(net, 'nope')",
            "net.get_submodule('foo')",
            "net.get_submodule('x')",
            "net.get_submodule('lin.weight')",
            "net.get_submodule('')",
            "net.get_parameter('lin.weight')",
            "net.get_parameter('x')",
            "net.get_parameter('lin.foo')",
            "net.get_parameter('lin')",
            "net.get_buffer('x')",
            "net.get_buffer('lin.weight')",
            "net.get_buffer('foo')",
            "net.set_submodule('', m)",
            "net.set_submodule('foo.x', m)",
            "net.set_submodule('lin', 3)",
            "net.set_submodule('yy', m, strict=True)",
            "net.set_submodule('x.y', m)",
            "net.get_extra_state()",
            "net.set_extra_state(1)",
            "net(3)",
            "net.train(3)",
            "net.to(T.int64)",
            "net.to('cpu', T.int32)",
            "nn.Module(3)",
            "nn.Module(a=3)",
            "nn.Module()",
            "sorted(vars(nn.Module()))",
            "[name for name, _ in net.named_parameters()]",
            "[name for name, _ in net.named_parameters('p', remove_duplicate=False)]",
            "[name for name, _ in net.named_parameters(recurse=False)]",
            "[name for name, _ in net.named_buffers()]",
            "[name for name, _ in net.named_modules()]",
            "[name for name, _ in net.named_modules(prefix='p', remove_duplicate=False)]",
            "[name for name, _ in net.named_children()]",
            "list(net.state_dict())",
            "net.state_dict()._metadata",
            "list(net.state_dict(prefix='p.'))",
            "net",
            "[n for n in dir(net) if n in ('lin', 'x', 'own', 'none', 'training')]",
            "delattr(net, 'y')",
            "setattr(net, 'own', None)",
            "net.own",
            "net.half().lin.weight.dtype",
            "net.double().x.dtype",
            "net.requires_grad_(False).lin.weight.requires_grad",
            "net.eval().training",
        ]
    )


def test_loading_a_state_reports_the_same_problems() -> None:
    run(
        [
            "m.load_state_dict(3)",
            "m.load_state_dict({'weight': T.ones(3, 2), 'c': 3, 'bias': 'x'})",
            "m.load_state_dict({'c': T.ones(1), 'd': T.ones(1), 'x.y': T.ones(1)})",
            "m.load_state_dict({'c': T.ones(1)}, strict=False)",
            "m.load_state_dict(m.state_dict())",
            "net.load_state_dict({k: v + 1 for k, v in net.state_dict().items()})",
            "net.state_dict()",
            "net.load_state_dict(net.state_dict(), assign=True)",
            "net.lin.weight.requires_grad",
            "nn.BatchNorm1d(3).load_state_dict({})",
            "nn.BatchNorm1d(3).state_dict()._metadata",
        ]
    )


def test_parameters_and_buffers_behave_alike() -> None:
    run(
        [
            "nn.Parameter()",
            "nn.Parameter(T.ones(2))",
            "nn.Parameter(T.ones(2).long())",
            "nn.Parameter(T.ones(2).long(), requires_grad=False)",
            "nn.Parameter([1.0])",
            "isinstance(T.ones(2), nn.Buffer)",
            "isinstance(nn.Buffer(T.ones(2)), nn.Buffer)",
            "type(nn.Buffer(T.ones(2))) is T.Tensor",
            "nn.Buffer(T.ones(2), persistent=False).persistent",
            "type(P(2) * 2) is T.Tensor",
            "type(P(2).data) is T.Tensor",
            "type(P(2).detach()) is T.Tensor",
            "copy.deepcopy(P(2))",
            "pickle.loads(pickle.dumps(P(2)))",
            "pickle.loads(pickle.dumps(m))",
            "copy.deepcopy(net).twin is not net.twin",
            "(lambda n: n.twin is n.lin)(copy.deepcopy(net))",
        ]
    )


def test_sequential_and_module_list_have_the_same_operators() -> None:
    run(
        [
            "s + t", "s * 2", "2 * s", "s + 3", "s * -1", "s * 'a'", "s[5]", "s[-4]", "s['a']",
            "s[0:2]", "s[1:]", "s.pop(0)", "s.append(3)", "s.insert(0, nn.ReLU())",
            "s.insert(9, nn.ReLU())", "s.insert(-1, nn.Tanh())", "s.insert(0, 3)", "s.extend(t)",
            "s.extend(3)", "s.__iadd__(t)", "s.__imul__(2)", "s.__delitem__(0)",
            "s.__delitem__(slice(0, 2))", "s.pop(99)", "list(s._modules)", "s.__setitem__(0, 3)",
            "s.__setitem__(77, t)", "nn.Sequential(3)", "nn.Sequential({'a': L(1, 1)})",
            "nn.Sequential(OrderedDict(a=L(1, 1), b=nn.ReLU()))", "s.__iadd__(3)",
            "nn.Sequential()(3)", "len(s)", "s",
            "ml", "nn.ModuleList()", "ml + t", "ml + ml", "ml[0:2]", "ml[-1]", "ml[9]", "ml['a']",
            "nn.ModuleList([nn.ModuleList([L(1, 1), L(1, 1)]), nn.ModuleList([L(1, 1), L(1, 1)])])",
            "ml.append(3)", "ml.extend(3)", "ml.extend(t)", "ml.insert(0, nn.Tanh())", "ml.pop(0)",
            "ml.pop(slice(0, 2))", "ml.__setitem__(0, nn.ELU())", "ml.__setitem__(50, nn.ELU())",
            "ml.__delitem__(0)", "ml(3)", "ml.__iadd__([nn.ReLU()])", "ml + 3", "list(ml._modules)",
        ],
        "s = nn.Sequential(L(1, 2), nn.ReLU(), L(2, 3)); t = nn.Sequential(nn.Tanh())\n"
        "ml = nn.ModuleList([L(1, 2), L(1, 2), L(1, 2), nn.ReLU()])",
    )  # fmt: skip


def test_dictionaries_and_parameter_containers_have_the_same_operators() -> None:
    run(
        [
            "d", "d['q']", "d[3]", "d.update(3)", "d.update([('z', L(1, 1)), ('b', L(1, 1))])",
            "d.update([3])", "d.update([(1, 2, 3)])", "d.update(d)", "d.pop('x')", "d.pop('x')",
            "list(d.keys())", "list(d.values())", "list(d.items())", "'z' in d", "len(d)",
            "d.clear()", "d", "d.__setitem__('type', L(1, 1))", "d.__delitem__('v')", "d(3)",
            "pl", "list(pl._parameters)", "list(pl._modules)", "pl[0]", "pl[-1]", "pl[9]", "pl[1:3]",
            "pl + pl", "pl.append(P(1))", "pl.extend(3)", "pl.extend([P(1)])", "pl.extend(pl)",
            "pl.extend(P(2))", "pl.__iadd__([P(1)])", "pl.__setitem__(0, T.ones(1))",
            "pl.__setitem__(99, 3)", "pl()", "pl['a']", "nn.ParameterList(3)", "len(pl)",
            "nn.ParameterList([P(1)])", "nn.ParameterList()",
            "pd", "list(pd)", "pd['b']", "pd['zz']", "pd[3]", "list(pd.keys())", "list(pd.items())",
            "pd.copy()", "pd | {'z': P(1)}", "{'z': P(1)} | pd", "pd.__ior__({'z': P(1)})", "pd | 3",
            "pd.get('qq', 5)", "pd.setdefault('b', 3)", "pd.setdefault('n', P(2))",
            "pd.fromkeys(['m', 'k'], P(2))", "pd.popitem()", "pd.pop('b')", "pd.pop('b')",
            "pd.update(3)", "pd.update([('a', P(9))])", "pd.update([3])", "pd.update([(1, 2, 3)])",
            "list(reversed(pd))", "pd.clear()", "len(pd)", "pd.__setitem__('update', P(1))",
        ],
        "d = nn.ModuleDict({'x': L(1, 1), 'a': nn.ReLU()})\n"
        "pl = nn.ParameterList([P(2), T.ones(2, 3), 3, 'a', L(1, 1)])\n"
        "pd = nn.ParameterDict({'b': P(2), 'a': T.ones(3), 'c': 4})",
    )  # fmt: skip


CONSTRUCTORS = """
BatchNorm1d(3) | BatchNorm2d(3, affine=False) | BatchNorm1d(3, bias=False, momentum=None)
GroupNorm(2, 3) | GroupNorm(1, 3, bias=False) | InstanceNorm1d(3) | LayerNorm(3, bias=False)
LayerNorm([3, 4]) | RMSNorm(3) | LocalResponseNorm(2) | Unflatten(1, 3) | Unflatten(1, (2, 'a'))
Unflatten(1, [2, 3]) | Flatten() | Embedding(3, 2, 5) | Embedding(3, 2, -5) | Embedding(3, 2, 1)
Embedding(3, 2, -1, max_norm=1, norm_type=3, scale_grad_by_freq=True, sparse=True)
Embedding(3, 2, _weight=T.ones(2, 2)) | Embedding.from_pretrained(T.ones(2))
Embedding.from_pretrained(T.ones(2, 2)) | Bilinear(0, 1, 2) | Bilinear(1, 2, 3) | Linear(0, 3)
Linear(2, 3, bias=False) | Dropout(2) | Dropout(0.1) | Dropout2d() | AlphaDropout(0.2)
Identity(3, a=3) | Hardtanh(1, 1) | Hardtanh(min_value=-2) | Hardtanh(-2, 2) | ReLU6() | ReLU6(True)
ReLU(True) | ReLU() | ELU() | ELU(2.0, True) | CELU(2, True) | GLU() | GELU('tanh') | GELU()
Hardshrink() | Hardsigmoid(True) | Hardswish(True) | LeakyReLU(0.2, True) | LogSigmoid()
LogSigmoid(3) | LogSoftmax() | LogSoftmax(1) | Softmax() | Softmax2d() | Softmin(1) | Mish(True)
Mish() | PReLU(3) | PReLU(3).weight | RReLU() | RReLU(inplace=True) | SELU(True) | SiLU(True)
SiLU() | Sigmoid() | Tanh() | Tanhshrink() | Softsign() | Softplus() | Softshrink()
Threshold(1, 2, True) | Threshold(1, 2) | Sigmoid(3) | CrossEntropyLoss(label_smoothing=0.1)
L1Loss(size_average=False).reduction | L1Loss(reduce=False).reduction | TripletMarginLoss(margin=-1)
TripletMarginWithDistanceLoss() | TripletMarginWithDistanceLoss(margin=-1) | MultiMarginLoss(p=3)
MultiMarginLoss(weight=T.ones(2, 2)) | BCELoss(T.ones(2)).state_dict() | CTCLoss()
BCEWithLogitsLoss(pos_weight=T.ones(2)).state_dict() | PairwiseDistance() | CosineSimilarity()
PixelShuffle(2) | PixelUnshuffle(2) | ChannelShuffle(2) | ZeroPad2d(2) | ConstantPad1d(2, 3.0)
ReflectionPad1d((1, 2)) | ReplicationPad3d(1) | CircularPad2d(1)
Sequential(Linear(2, 3), Sequential(ReLU(), Linear(3, 1))) | Linear(3, 2).state_dict()
"""


def test_constructors_print_and_refuse_alike() -> None:
    lines = [part.strip() for row in CONSTRUCTORS.strip().splitlines() for part in row.split("|")]
    classes = "for name in dir(nn): globals().setdefault(name, getattr(nn, name))"
    run(lines, classes)


FORWARD = {
    "Linear(4, 3)": "x", "Linear(4, 3, bias=False)": "x", "Bilinear(4, 4, 2)": "x, x",
    "Flatten(0)": "x", "Unflatten(1, (2, 2))": "x", "Identity()": "x", "ReLU()": "x",
    "ELU()": "x", "CELU()": "x", "SELU()": "x", "GELU()": "x", "GELU('tanh')": "x", "GLU()": "x",
    "Hardshrink()": "x", "Hardsigmoid()": "x", "Hardswish()": "x", "Hardtanh()": "x",
    "ReLU6()": "x", "LeakyReLU()": "x", "LogSigmoid()": "x", "LogSoftmax(1)": "x",
    "Softmax(1)": "x", "Softmin(0)": "x", "Mish()": "x", "PReLU()": "x", "SiLU()": "x",
    "Sigmoid()": "x", "Tanh()": "x", "Tanhshrink()": "x", "Softsign()": "x", "Softplus()": "x",
    "Softshrink()": "x", "Threshold(0.1, 2.0)": "x", "Dropout(0.5)": "x", "LayerNorm(4)": "x",
    "RMSNorm(4)": "x", "BatchNorm1d(4)": "x", "BatchNorm1d(4, momentum=None)": "x",
    "BatchNorm1d(4).eval()": "x", "GroupNorm(2, 4)": "x", "Embedding(5, 3)": "i",
    "Embedding(5, 3, 1)": "i", "MSELoss()": "x, y", "L1Loss()": "x, y",
    "SmoothL1Loss(beta=0.5)": "x, y", "HuberLoss(delta=0.5)": "x, y", "CrossEntropyLoss()": "x, i",
    "CrossEntropyLoss(label_smoothing=0.1)": "x, i", "NLLLoss()": "x, i",
    "BCELoss()": "x.sigmoid(), y.sigmoid()", "BCEWithLogitsLoss()": "x, y.sigmoid()",
    "KLDivLoss(reduction='batchmean')": "x, y.sigmoid()", "CosineSimilarity()": "x, y",
    "PairwiseDistance()": "x, y", "MSELoss(reduction='none')": "x, y",
    "MSELoss(reduction='sum')": "x, y", "SoftMarginLoss()": "x, y.sign()",
    "MarginRankingLoss(0.1)": "x, y, y.sign()", "PoissonNLLLoss()": "x, y.abs()",
    "TripletMarginLoss()": "x, y, -x", "ZeroPad2d(1)": "x.unsqueeze(0)",
}  # fmt: skip


@pytest.mark.parametrize("expression", FORWARD)
def test_a_module_computes_the_same_values_and_gradients(expression: str) -> None:
    results = []
    for package in (torch, rushlight):
        names = namespace(package)
        package.manual_seed(3)
        names["x"] = x = package.randn(3, 4).requires_grad_()
        names["y"] = package.randn(3, 4)
        names["i"] = package.tensor([1, 0, 3])
        module = eval("nn." + expression, names)
        result = module(*eval(f"({FORWARD[expression]},)", names))
        result.sum().backward()
        values = [result.detach().flatten().tolist()]
        values += [p.grad.flatten().tolist() for p in module.parameters() if p.grad is not None]
        values += [b.flatten().tolist() for b in module.buffers()]
        values += [] if x.grad is None else [x.grad.flatten().tolist()]
        results.append(values)
    assert len(results[0]) == len(results[1])
    for theirs, ours in zip(*results, strict=True):
        assert ours == pytest.approx(theirs, rel=2e-5, abs=2e-6)


INITIALISERS = """
I.uniform_(T.empty(5, 7), -1, 2) | I.normal_(T.empty(5, 7), 1, 2) | I.normal_(T.empty(3), 1, 2)
I.trunc_normal_(T.empty(40)) | I.trunc_normal_(T.empty(3), a=-0.5, b=0.5)
I.trunc_normal_(T.empty(20), 0, 1, 1.0, 9.0) | I.trunc_normal_(T.empty(20), 0, 1, 4.0, 5.0)
I.trunc_normal_(T.empty(20), 0, 0.02, -0.04, 0.04) | I.trunc_normal_(T.empty(20), 5, 1)
I.trunc_normal_(T.empty(20), 1, 3, 2, 2.5)
I.constant_(T.empty(2), 3) | I.ones_(T.empty(2)) | I.zeros_(T.empty(2)) | I.eye_(T.empty(2, 3))
I.dirac_(T.empty(4, 2, 3), 2) | I.dirac_(T.empty(2, 2, 2, 2)) | I.xavier_uniform_(T.empty(4, 6), 2)
I.xavier_normal_(T.empty(4, 6, 3)) | I.kaiming_uniform_(T.empty(4, 6), 0.1)
I.kaiming_normal_(T.empty(4, 6), mode='fan_out', nonlinearity='relu') | I.orthogonal_(T.empty(4, 6))
I.orthogonal_(T.empty(6, 4), 2.0) | I.orthogonal_(T.empty(3, 2, 2)) | I.sparse_(T.empty(6, 5), 0.3)
I.calculate_gain('foo') | I.calculate_gain('leaky_relu', True) | I.calculate_gain('leaky_relu', 0.2)
I.calculate_gain('selu') | I.calculate_gain('tanh') | I.calculate_gain('relu')
I.xavier_uniform_(T.ones(2)) | I.kaiming_uniform_(T.ones(2, 2), mode='foo') | I.eye_(T.ones(2))
I.kaiming_uniform_(T.ones(0, 2)) | I.dirac_(T.ones(2)) | I.dirac_(T.ones(3, 2, 2), groups=2)
I.orthogonal_(T.ones(2)) | I.sparse_(T.ones(2), 0.1) | I._calculate_fan_in_and_fan_out(T.ones(2, 3, 4))
I.kaiming_normal_(T.ones(2, 2), nonlinearity='foo') | I.xavier_normal(T.empty(2, 2)) | T.rand(3)
"""


def test_initialisers_draw_the_same_numbers() -> None:
    run([part.strip() for row in INITIALISERS.strip().splitlines() for part in row.split("|")])


def test_clipping_and_vectors_give_the_same_values() -> None:
    run(
        [
            "U.clip_grad_norm_([], 1.0)", "U.clip_grad_norm_(p, 1.0)", "p.grad",
            "U.clip_grad_norm_([p, q], 2.0, norm_type=1)", "p.grad, q.grad",
            "U.clip_grad_norm_([p], 2.0, norm_type=float('inf'))",
            "U.clip_grad_norm_([p, q], 100.0)", "p.grad", "U.clip_grad_value_([p, q], 0.2)",
            "p.grad, q.grad", "U.clip_grad_norm_(bad, 1.0, error_if_nonfinite=True)",
            "U.parameters_to_vector([p, q])", "U.vector_to_parameters(3, [p])",
            "U.vector_to_parameters(T.arange(5.0), [p, q])", "p, q",
        ],
        "p = P(3); q = P(2); p.grad = T.tensor([3.0, 4.0, 0.0]); q.grad = T.tensor([-1.0, 2.0])\n"
        "bad = P(1); bad.grad = T.tensor([float('nan')])",
    )  # fmt: skip


HOOKS = """
seen = []
def note(name):
    def hook(*args):
        seen.append((name, [type(a).__name__ if isinstance(a, nn.Module) else a for a in args[1:]]))
    return hook
T.manual_seed(1)
net = nn.Sequential(L(2, 3), nn.Tanh(), L(3, 1))
net[0].register_forward_pre_hook(note("pre"))
net[0].register_forward_pre_hook(note("pre kw"), with_kwargs=True, prepend=True)
net[1].register_forward_hook(note("post"))
net[1].register_forward_hook(note("post kw"), with_kwargs=True)
net[0].register_full_backward_hook(note("back 0"))
net[2].register_full_backward_hook(note("back 2"))
net[2].register_full_backward_pre_hook(note("back pre 2"))
net[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
x = T.ones(2, 2)
net(x).sum().backward()
grads = [p.grad for p in net.parameters()]
y = T.ones(2, 2, requires_grad=True)
net(y).pow(2).sum().backward()
"""


def test_hooks_see_and_change_the_same_things() -> None:
    run(
        [
            "seen", "grads", "y.grad", "net(y).grad_fn.name()",
            "net[0].register_backward_hook(lambda *a: None)",
        ],
        HOOKS,
    )  # fmt: skip


def test_hooks_that_answer_wrongly_raise_alike() -> None:
    run(
        [
            "a(T.ones(1, 2))",
            "b(T.ones(1, 2, requires_grad=True)).sum().backward()",
            "b(T.ones(1, 2)).sum().backward()",
            "c(T.ones(1, 2)).sum().backward()",
            "d(T.ones(1, 3))",
            "called",
        ],
        "a = L(2, 1); a.register_forward_pre_hook(lambda m, x, k: 3, with_kwargs=True)\n"
        "b = L(2, 1); b.register_full_backward_hook(lambda m, gi, go: (1, 2))\n"
        "c = L(2, 1); c.register_full_backward_pre_hook(lambda m, go: (1, 2))\n"
        "called = []\n"
        "d = L(2, 1); d.register_forward_hook(lambda m, a, o: called.append(o), always_call=True)",
    )


def test_data_parallel_without_devices_is_the_module() -> None:
    run(
        ["d", "list(d.state_dict())", "d(T.ones(1, 2))", "d.device_ids"],
        "d = nn.DataParallel(m)",
    )
