# ruff: noqa: E501  (tables of expressions)
"""What stands around the layers: initialisation, gradients of convolutions, utilities, machinery.

Each line is evaluated on both sides from the same seed; a line that refuses must refuse alike.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402
from tests.compare.layers.differ import differences  # noqa: E402
from tests.compare.layers.sides import Inputs, data, told  # noqa: E402

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore")


def seen(package: ModuleType, lines: list[str], setup: str, strides: bool) -> dict[str, Any]:
    """The value of each line, after the ones before it."""
    package.manual_seed(0)
    names = Inputs(package, "float32").names()
    utils = package.nn.utils
    names |= {"E": names["I"], "I": package.nn.init, "G": package.nn.grad, "U": utils}
    names |= {"rnn": utils.rnn, "copy": copy, "pickle": pickle, "L": package.nn.Linear}
    names |= {
        "p": utils.parametrize,
        "prune": importlib.import_module(f"{package.__name__}.nn.utils.prune"),
    }
    names |= {"P": lambda *shape: package.nn.Parameter(package.ones(*shape))}
    exec(setup, names)
    found: dict[str, Any] = {}
    for place, line in enumerate(lines):
        label = f"{place} {line}"
        package.manual_seed(1)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found[label] = data(eval(line, names), strides)
            except Exception as error:
                found[label] = told(error)
        texts = [f"{w.category.__name__}: {w.message}" for w in said]
        if texts and all("Trigger" not in t for t in texts):
            found[label + " warns"] = data(texts)
    return found


def run(lines: list[str], setup: str = "", strides: bool = True) -> None:
    wanted, got = (seen(side, lines, setup, strides) for side in (torch, rushlight))
    lines = differences(wanted, got)
    assert not lines, "\n".join(lines)


SHAPES = ["T.empty(3, 4)", "T.empty(5, 3, 2)", "T.empty(4, 4).double()", "T.empty(2, 3, 2, 2)"]


@pytest.mark.parametrize(
    "call",
    [
        "uniform_({})", "uniform_({}, -2, 3)", "uniform_({}, a=1.5, b=2.5)", "normal_({})", "normal_({}, 1.0, 0.1)", "normal_({}, mean=-1, std=3)",
        "trunc_normal_({})", "trunc_normal_({}, 1.0, 2.0, 0.0, 1.5)", "trunc_normal_({}, std=0.1, a=-0.05, b=0.2)", "constant_({}, 0.3)", "ones_({})", "zeros_({})",
        "xavier_uniform_({})", "xavier_uniform_({}, 2.0)", "xavier_normal_({})", "xavier_normal_({}, gain=0.5)",
        "kaiming_uniform_({})", "kaiming_uniform_({}, a=0.2, mode='fan_out')", "kaiming_uniform_({}, nonlinearity='relu')", "kaiming_uniform_({}, 0, 'fan_out', 'tanh')",
        "kaiming_normal_({})", "kaiming_normal_({}, a=1, mode='fan_out')", "kaiming_normal_({}, nonlinearity='selu')",
        "orthogonal_({})", "orthogonal_({}, gain=2.0)", "sparse_({}, 0.3)", "sparse_({}, sparsity=0.5, std=1.0)", "eye_({})", "dirac_({})", "dirac_({}, groups=1)",
        "uniform_({}, generator=T.Generator().manual_seed(4))", "normal_({}, generator=T.Generator().manual_seed(4))", "trunc_normal_({}, generator=T.Generator().manual_seed(4))",
        "xavier_normal_({}, generator=T.Generator().manual_seed(4))", "kaiming_uniform_({}, generator=T.Generator().manual_seed(4))", "orthogonal_({}, generator=T.Generator().manual_seed(4))",
        "_calculate_fan_in_and_fan_out({})", "_calculate_correct_fan({}, 'fan_in')",
    ],
)  # fmt: skip
def test_an_initialisation_draws_the_same(call: str) -> None:
    run(["I." + call.format(shape) for shape in [*SHAPES, "T.empty(3)", "T.empty(0, 3)"]])


def test_initialisations_refuse_alike() -> None:
    run(
        [
            "I.kaiming_uniform_(T.empty(3, 4), mode='what')", "I.kaiming_normal_(T.empty(3, 4), nonlinearity='what')", "I.dirac_(T.empty(4, 4, 2), groups=3)",
            "I.dirac_(T.empty(4, 4, 3), groups=2)", "I.eye_(T.empty(3, 3, 3))", "I.sparse_(T.empty(3), 0.1)", "I.orthogonal_(T.empty(4))", "I.trunc_normal_(T.empty(3), 10, 0.1)",
            "I.uniform_(T.empty(3), 2, 1)", "I.normal_(T.empty(3), 0, -1)", "I.uniform_(3)", "I.constant_(T.empty(2, 2), 'a')", "I.xavier_uniform_(T.empty(()))",
            *[f"I.calculate_gain('{name}')" for name in ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "sigmoid", "tanh", "relu", "leaky_relu", "selu", "what")],
            "I.calculate_gain('leaky_relu', 0.3)", "I.calculate_gain('leaky_relu', True)", "I.calculate_gain('leaky_relu', 'a')", "I._calculate_correct_fan(T.empty(3, 4), 'what')",
            *[f"I.{name}(T.empty(3, 4))" for name in ("uniform", "normal", "eye", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal")],
            "I.constant(T.empty(2), 0.5)", "I.sparse(T.empty(3, 4), 0.2)", "I.dirac(T.empty(3, 3, 3))",
        ]
    )  # fmt: skip


def test_gradients_of_convolutions_are_the_same() -> None:
    run(
        [
            line
            for d, x, g in ((1, "2, 4, 7", "2, 6, 5"), (2, "2, 4, 7, 6", "2, 6, 5, 4"), (3, "2, 4, 5, 4, 4", "2, 6, 3, 2, 2"))
            for k in [", ".join(["3"] * d)]
            for line in (
                f"G.conv{d}d_input(({x}), R(6, 4, {k}), R({g}))",
                f"G.conv{d}d_weight(R({x}), (6, 4, {k}), R({g}))",
                f"G.conv{d}d_input(({x}), R(6, 2, {k}), R({g}), groups=2)",
                f"G.conv{d}d_weight(R({x}), (6, 2, {k}), R({g}), 1, 0, 1, 2)",
                f"G.conv{d}d_input(({x}), R(6, 4, {k}), nn.functional.conv{d}d(R({x}), R(6, 4, {k}), None, 2, 1), stride=2, padding=1)",
                f"G.conv{d}d_weight(R({x}), (6, 4, {k}), nn.functional.conv{d}d(R({x}), R(6, 4, {k}), None, 2, 2, 2), 2, 2, 2)",
            )
        ]
    )  # fmt: skip


def test_bags_by_the_operator_are_the_same() -> None:
    run(
        [
            f"T.embedding_bag(R(6, 3), E(1, 2, 2, 5, 0), E({offsets}){rest})"
            for offsets in ("0, 2", "0, 2, 2, 5", "0")
            for rest in ("", ", False, 1", ", False, 2", ", False, 0, False, V(5)", ", False, 1, False, None, False, 2", ", False, 2, False, None, False, 2")
        ]
        + ["T.embedding_bag(R(6, 3), E(1, 2), E(0), False, 3)", "T.embedding_bag(R(6, 3), E(1, 2), E(0), False, 1, False, V(2))"]
    )  # fmt: skip


CLIP = "ps = [P(3, 2), P(4), P(1)]\nfor k, q in enumerate(ps[:2]): q.grad = F(*q.shape) * (k + 1)"


@pytest.mark.parametrize(
    "call",
    [
        "clip_grad_norm_(ps, {0})", "clip_grad_norm_(ps, {0}, 1)", "clip_grad_norm_(ps, {0}, norm_type=float('inf'))", "clip_grad_norm_(ps, {0}, 3.5)", "clip_grad_norm_(ps, {0}, foreach=True)",
        "clip_grad_norm_(ps, {0}, foreach=False)", "clip_grad_norm_(ps[0], {0})", "clip_grad_norm_([], {0})", "clip_grad_norm_(iter(ps), {0}, 0)", "clip_grad_norm_(ps, {0}, error_if_nonfinite=True)",
        "clip_grad_value_(ps, {0})", "clip_grad_value_(ps[0], {0}, foreach=True)", "clip_grad_norm(ps, {0})", "get_total_norm([q.grad for q in ps[:2]])", "get_total_norm([q.grad for q in ps[:2]], 1.0)", "get_total_norm([])",
        "clip_grads_with_norm_(ps, {0}, T.tensor(2.0))", "clip_grad_norm_(ps, 'a')", "clip_grad_norm_(ps, {0}, 'a')",
    ],
)  # fmt: skip
def test_clipping_is_the_same(call: str) -> None:
    after = "[q.grad for q in ps]"
    run([f"U.{call.format(0.5)}", after, f"U.{call.format(100)}", after, f"U.{call.format(0)}", after], CLIP)  # fmt: skip


def test_clipping_what_is_not_finite_is_the_same() -> None:
    run(
        ["U.clip_grad_norm_(ps, 1.0)", "[q.grad for q in ps]", "U.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)", "U.clip_grad_norm_(ps, 1.0, foreach=False, error_if_nonfinite=True)", "U.clip_grad_value_(ps, 0.1)", "[q.grad for q in ps]"],
        CLIP + "\nps[0].grad[0, 0] = float('inf')",
    )  # fmt: skip


def test_packing_is_the_same() -> None:
    run(
        [
            *[f"rnn.pack_padded_sequence({args})" for args in (
                "R(5, 3, 2), [5, 3, 1]", "R(5, 3, 2), E(5, 3, 1)", "R(3, 5, 2), [5, 5, 1], batch_first=True", "R(5, 3, 2), [2, 5, 3], enforce_sorted=False", "R(5, 3), [5, 4, 1]", "K(4, 5, 3), [5, 3, 1]",
                "R(5, 3, 2), [2, 5, 3]", "R(5, 3, 2), [5, 3]", "R(5, 3, 2), [5, 3, 0]", "R(5, 3, 2), [5, 3, -1]", "R(5, 3, 2), []", "R(5), [5]", "R(5, 3, 2), [[5, 3, 1]]", "R(5, 3, 2), E(5, 3, 1).int()",
                "R(5, 3, 2), F(3)", "R(5, 3, 2), 5", "3, [3]", "R(5, 0, 2), []", "R(5, 3, 2), [4, 3, 1]", "R(5, 3, 2), E([5, 3, 1]).reshape(3, 1)", "R(5, 3, 2), [5, 3, 1], 1",
            )],
            "pk", "rnn.pad_packed_sequence(pk)", "rnn.pad_packed_sequence(pk, batch_first=True)", "rnn.pad_packed_sequence(pk, padding_value=-1.5, total_length=7)", "rnn.pad_packed_sequence(pk, total_length=3)",
            "rnn.pad_packed_sequence(pk, total_length=4)", "pk.is_cuda", "pk.data.shape", "pk.to(T.float64)", "pk.double().data.dtype", "pk.cpu() is pk", "pk.is_pinned()", "pk.int().data.dtype", "len(pk)", "pk._replace(data=1).data",
            "rnn.unpack_sequence(pk)", "rnn.unpad_sequence(F(5, 3, 2), E(5, 3, 1))", "rnn.unpad_sequence(F(3, 5, 2), E(5, 3, 1), batch_first=True)", "rnn.pad_sequence([R(3, 2), R(5, 2)])", "rnn.pad_sequence([R(3, 2), R(5, 2)], True, 2.0)",
            "rnn.pad_sequence([R(3, 2), R(5, 2)], batch_first=True, padding_side='left')", "rnn.pad_sequence([R(3, 2), R(5, 3)])", "rnn.pad_sequence([])", "rnn.pad_sequence(R(3, 4))", "rnn.pad_sequence([R(3)], padding_side='what')", "rnn.pad_sequence(3)",
            "rnn.pack_sequence([R(3, 2), R(2, 2)])", "rnn.pack_sequence([R(2, 2), R(3, 2)])", "rnn.pack_sequence([R(2, 2), R(3, 2)], enforce_sorted=False)", "rnn.pack_sequence([])", "rnn.invert_permutation(E(2, 0, 1))", "rnn.invert_permutation(None)",
            "rnn.PackedSequence(R(3, 2), E(2, 1))", "rnn.PackedSequence(R(3, 2), E(2, 1), E(1, 0))", "rnn.PackedSequence(R(3, 2), E(2, 1), E(1, 0), E(1, 0))", "rnn.PackedSequence(3)", "rnn.pad_packed_sequence(3)", "repr(pk)",
        ],
        "pk = rnn.pack_padded_sequence(R(5, 3, 2), [4, 2, 3], enforce_sorted=False)",
    )  # fmt: skip


def test_small_utilities_are_the_same() -> None:
    run(
        [
            "U.parameters_to_vector(m.parameters())", "U.vector_to_parameters(T.arange(10.0), m.parameters())", "m.state_dict()", "U.vector_to_parameters(T.arange(3.0), m.parameters())", "U.vector_to_parameters([1.0], m.parameters())", "U.parameters_to_vector([])",
            "U.parameters_to_vector([3])", "U.convert_conv2d_weight_memory_format(nn.Conv2d(4, 3, 2), T.channels_last).weight.stride()", "U.convert_conv3d_weight_memory_format(nn.Conv3d(4, 3, 2), T.channels_last_3d).weight.stride()",
            "U.skip_init(L, 3, 2).weight.shape", "U.skip_init(3)", "U.skip_init(L, 3, 2, device='cpu').bias.dtype", "U.skip_init(nn.ReLU)", "U.stateless.functional_call(m, {'weight': T.ones(2, 4)}, (T.ones(4),))", "U.stateless.functional_call(m, {'what': T.ones(2)}, (T.ones(4),))",
            "U.stateless.functional_call(m, {'what': T.ones(2)}, (T.ones(4),), strict=True)", "U.stateless.functional_call(m, {'weight': 3}, (T.ones(4),))", "U.stateless.functional_call(m, {}, T.ones(4))",
            "U.fuse_conv_bn_eval(nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3).eval())", "U.fuse_linear_bn_eval(L(2, 3).eval(), nn.BatchNorm1d(3).eval())", "U.fuse_conv_bn_eval(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3))",
        ],
        "m = L(4, 2)",
    )  # fmt: skip


NORMS = ["U.weight_norm(m)", "U.weight_norm(m, dim=None)", "U.weight_norm(m, 'bias', 0)", "U.spectral_norm(m)", "U.spectral_norm(m, n_power_iterations=3, eps=1e-6)", "U.spectral_norm(m, dim=1)", "U.parametrizations.weight_norm(m)", "U.parametrizations.weight_norm(m, dim=None)", "U.parametrizations.spectral_norm(m)", "U.parametrizations.spectral_norm(m, 'weight', 2, 1e-6, 1)", "U.parametrizations.orthogonal(m)", "U.parametrizations.orthogonal(m, orthogonal_map='cayley')", "U.parametrizations.orthogonal(m, orthogonal_map='householder')", "U.parametrizations.orthogonal(m, orthogonal_map='what')", "U.parametrizations.orthogonal(m, use_trivialization=False)", "U.parametrizations.weight_norm(m, 'what')", "U.spectral_norm(m, 'what')", "U.weight_norm(m, 'what')", "U.spectral_norm(m, n_power_iterations=0)", "U.parametrizations.spectral_norm(m, n_power_iterations=0)"]  # fmt: skip
MODULES = ["L(3, 3)", "L(2, 4)", "nn.Conv2d(2, 3, 2)"]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("norm", NORMS)
def test_a_normed_weight_is_the_same(norm: str, module: str) -> None:
    run(
        [f"({norm}, None)[1]", "m", "m.state_dict()", "m.weight", "[n for n, _ in m.named_parameters()]", "m.eval().weight", "m(x).sum().backward()", "[q.grad for q in m.parameters()]", "m.train()(x)", "(m(x), m(x))[1]", "m.state_dict()", "list(m._forward_pre_hooks) == []", "copy.deepcopy(m).state_dict()", "p.is_parametrized(m)", "U.remove_weight_norm(m)", "U.remove_spectral_norm(m)", "p.remove_parametrizations(m, 'weight')", "m", "m.weight"],
        f"m = {module}\nx = F(1, m.weight.shape[1], *[3] * (m.weight.dim() - 2)) if m.weight.dim() > 2 else F(1, m.in_features)",
        strides=False,
    )  # fmt: skip


PRUNERS = ["identity(m, 'weight')", "random_unstructured(m, 'weight', 0.3)", "random_unstructured(m, 'weight', amount=4)", "l1_unstructured(m, 'weight', 0.5)", "l1_unstructured(m, 'bias', 1)", "l1_unstructured(m, 'weight', 2, importance_scores=T.arange(12.0).reshape(4, 3))", "random_structured(m, 'weight', 0.5, 0)", "random_structured(m, 'weight', 1, dim=1)", "ln_structured(m, 'weight', 0.5, 2, 0)", "ln_structured(m, 'weight', 1, float('inf'), dim=1)", "ln_structured(m, 'weight', 1, 1, -1)", "custom_from_mask(m, 'weight', T.eye(4, 3))", "global_unstructured([(m, 'weight'), (m, 'bias')], prune.L1Unstructured, amount=0.4)", "global_unstructured([(m, 'weight')], prune.RandomUnstructured, amount=3)", "l1_unstructured(m, 'weight', 1.5)", "l1_unstructured(m, 'weight', 99)", "l1_unstructured(m, 'weight', -1)", "l1_unstructured(m, 'what', 1)", "random_structured(m, 'weight', 1, 5)", "ln_structured(m, 'weight', 9, 2, 0)", "global_unstructured(3, prune.L1Unstructured, amount=1)", "global_unstructured([(m, 'weight')], prune.LnStructured, amount=1)", "l1_unstructured(m, 'weight', 'a')", "custom_from_mask(m, 'weight', T.ones(2))"]  # fmt: skip


@pytest.mark.parametrize("pruner", PRUNERS)
def test_pruning_is_the_same(pruner: str) -> None:
    run(
        [f"(prune.{pruner}, None)[1]", "m", "m.state_dict()", "m.weight", "[n for n, _ in m.named_parameters()]", "[n for n, _ in m.named_buffers()]", "m(x).sum().backward()", "[q.grad for q in m.parameters()]", "prune.is_pruned(m)", "prune.l1_unstructured(m, 'weight', 2).weight", "[type(h).__name__ for h in m._forward_pre_hooks.values()]", "copy.deepcopy(m)(x)", "prune.remove(m, 'weight')", "m.state_dict()", "prune.remove(m, 'weight')", "prune.is_pruned(m)"],
        "m = L(3, 4)\nx = F(2, 3)",
    )  # fmt: skip


HOOKS = """
log = []
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = L(2, 2)
        self.b = L(2, 1)
        self.twin = self.a
        self.register_buffer("seen", T.zeros(1))
        self.register_buffer("hidden", T.zeros(1), persistent=False)
    def forward(self, x, scale=1.0):
        if scale == 'bad': raise ValueError('bad')
        return self.b(self.a(x)) * scale
net = Net()
x = T.ones(3, 2)
def note(word, result=None):
    def hook(*args, **kwargs):
        log.append((word, len(args), [type(a).__name__ for a in args], sorted(kwargs)))
        return result
    return hook
def drain():
    found = list(log); log.clear(); return found
def raising(*args): raise KeyError('hook')
"""  # fmt: skip


def test_hooks_are_called_alike() -> None:
    run(
        [
            "(hs := [net.register_forward_pre_hook(note('pre')), net.register_forward_pre_hook(note('pre kw'), with_kwargs=True), net.register_forward_pre_hook(note('first'), prepend=True), net.register_forward_hook(note('post')), net.register_forward_hook(note('post kw'), with_kwargs=True), net.register_forward_hook(note('post first'), prepend=True), net.register_forward_hook(note('always'), always_call=True)]) and None",
            "net(x, scale=2.0)", "drain()", "net(x, 'bad')", "drain()", "[h.remove() for h in hs[:3]]", "net(x)", "drain()", "net(x, scale='bad')", "drain()", "[h.remove() for h in hs]", "net(x)", "drain()",
            "(hs := [net.register_full_backward_hook(note('full')), net.register_full_backward_pre_hook(note('full pre')), net.register_full_backward_hook(note('full first'), prepend=True), net.a.register_full_backward_hook(note('a'))]) and None",
            "net(x.clone().requires_grad_()).sum().backward()", "drain()", "net(x).sum().backward()", "drain()", "net.register_backward_hook(note('old'))", "[h.remove() for h in hs]", "(h := net.register_backward_hook(note('old'))) and None", "net(x).sum().backward()", "drain()", "net.register_full_backward_hook(note('full')) and None", "h.remove()",
            "(h := net.register_forward_hook(note('wrong', 3))) and None", "net(x)", "h.remove()", "(h := net.register_forward_pre_hook(note('tuple', (T.zeros(1, 2),)))) and None", "net(x)", "h.remove()", "(h := net.register_forward_pre_hook(note('one', T.zeros(1, 2)))) and None", "net(x)", "h.remove()", "drain() and None",
            "(h := net.register_forward_pre_hook(note('bad', (1, 2, 3)), with_kwargs=True)) and None", "net(x)", "h.remove()", "(h := net.register_forward_pre_hook(note('good', ((T.zeros(1, 2),), {'scale': 3.0})), with_kwargs=True)) and None", "net(x)", "h.remove()", "drain() and None",
            "(h := net.register_full_backward_pre_hook(note('pre', (T.zeros(3, 1),)))) and None", "net.zero_grad()", "net(x).sum().backward()", "[q.grad for q in net.parameters()]", "h.remove()", "(h := net.register_full_backward_hook(note('none', (T.zeros(3, 2),)))) and None", "T.autograd.grad(net(xx := x.clone().requires_grad_()).sum(), xx)", "h.remove()",
            "(h := net.register_full_backward_hook(note('two', (1, 2)))) and None", "T.autograd.grad(net(xx := x.clone().requires_grad_()).sum(), xx)", "h.remove()", "(h := net.register_forward_hook(raising, always_call=True)) and None", "net(x)", "net(x, 'bad')", "h.remove()", "(h := net.register_forward_pre_hook(raising)) and None", "net(x)", "h.remove()", "drain() and None",
            "net.register_forward_hook(3) and None", "net(x)", "net._forward_hooks.clear()",
        ],
        HOOKS,
    )  # fmt: skip


def test_global_hooks_and_state_hooks_are_called_alike() -> None:
    run(
        [
            "(M := nn.modules.module) and None", "(hs := [M.register_module_forward_pre_hook(note('g pre')), M.register_module_forward_hook(note('g post')), M.register_module_forward_hook(note('g always'), always_call=True), M.register_module_full_backward_pre_hook(note('g back pre')), M.register_module_full_backward_hook(note('g back'))]) and None",
            "net(x).sum().backward()", "drain()", "net(x, 'bad')", "drain()", "[h.remove() for h in hs]", "net(x)", "drain()", "(h := M.register_module_parameter_registration_hook(note('param'))) and None", "L(2, 2)", "drain()", "h.remove()", "(h := M.register_module_buffer_registration_hook(note('buffer'))) and None", "nn.BatchNorm1d(2)", "drain()", "h.remove()",
            "(h := M.register_module_module_registration_hook(note('module'))) and None", "nn.Sequential(nn.ReLU())", "drain()", "h.remove()", "(h := M.register_module_backward_hook(note('old'))) and None", "(k := M.register_module_full_backward_hook(note('x'))) and None", "k.remove()", "h.remove()",
            "(hs := [net.register_state_dict_pre_hook(note('sd pre')), net.register_state_dict_post_hook(note('sd post')), net._register_state_dict_hook(note('sd old')), net.register_load_state_dict_pre_hook(note('ld pre')), net.register_load_state_dict_post_hook(note('ld post')), net._register_load_state_dict_pre_hook(note('ld old')), net._register_load_state_dict_pre_hook(note('ld with'), with_module=True)]) and None",
            "list(net.state_dict())", "drain()", "net.load_state_dict(net.state_dict())", "drain()", "net.a.register_load_state_dict_post_hook(note('bad', 3)) and None", "net.load_state_dict(net.state_dict())", "[h.remove() for h in hs]", "net.register_state_dict_post_hook(note('s', 3)) and None", "net.state_dict()",
        ],
        HOOKS,
    )  # fmt: skip


def test_lazy_modules_go_through_the_same_states() -> None:
    run(
        [
            "m", "list(m.state_dict())", "m.has_uninitialized_params()", "m[0].weight", "m[0].weight.shape", "m[0].weight.numel()", "m[0].weight.dtype", "m[0].weight + 1", "m[0].weight.device", "m[0].weight.requires_grad", "m[0].weight.share_memory_()", "len(list(m.parameters()))", "m.double()[0].weight.dtype", "m.float() and None",
            "m[0].weight.materialize((2,)) if False else None", "copy.deepcopy(m)", "m.load_state_dict(L(3, 4).state_dict(prefix='0.'), strict=False)", "m[0].weight.shape", "m", "m(F(2, 3)).shape", "m", "m[0].has_uninitialized_params()", "type(m[0]).__name__", "n.load_state_dict(L(2, 2).state_dict())", "n", "n(F(2, 3))", "n.weight.shape", "n(F(2, 2)).shape", "n", "L(2, 2).load_state_dict(nn.LazyLinear(2).state_dict())",
            "nn.LazyConv2d(3, 2)(F(3))", "nn.LazyBatchNorm1d()(F(3, 4)).shape", "nn.Sequential(nn.LazyLinear(3), nn.LazyLinear(2))(F(2, 5)).shape", "nn.LazyLinear(3).reset_parameters()", "nn.LazyLinear(3).initialize_parameters(F(2, 4))", "pickle.loads(pickle.dumps(nn.LazyLinear(3)))", "nn.LazyLinear(3).apply(lambda k: None)", "nn.LazyLinear(3).half().weight.dtype", "nn.LazyLinear(3).zero_grad()", "nn.LazyLinear(3).requires_grad_(False)", "[type(q).__name__ for q in nn.LazyConv1d(2, 3).parameters()]",
            "[type(b).__name__ for b in nn.LazyBatchNorm2d().buffers()]", "T.optim.SGD(nn.LazyLinear(2).parameters(), 0.1)", "nn.parameter.UninitializedParameter()", "nn.UninitializedBuffer()", "nn.parameter.is_lazy(nn.UninitializedParameter())", "nn.UninitializedParameter().materialize((2, 3)) is None",
        ],
        "m = nn.Sequential(nn.LazyLinear(4), nn.ReLU())\nm.has_uninitialized_params = lambda: any(nn.parameter.is_lazy(q) for q in m.parameters())\nn = nn.LazyLinear(2)",
    )  # fmt: skip


def test_weights_of_recurrent_layers_can_be_set() -> None:
    run(
        [
            "[w.shape for w in m._flat_weights]", "m(x)[0]", "setattr(m, '_flat_weights', [w * 0.5 for w in m._flat_weights])", "m(x)[0]", "m.weight_ih_l0", "setattr(m, 'weight_ih_l0', nn.Parameter(T.ones(3, 2)))", "m(x)[0]", "m.double().float()(x)[0]", "m._flat_weights_names", "m.all_weights", "m.flatten_parameters()",
            "m.__setattr__('weight_ih_l0', 3)", "delattr(m, 'weight_ih_l0')", "copy.deepcopy(nn.GRU(2, 3))(x)[0].shape", "pickle.loads(pickle.dumps(m2))(x)[0]",
        ],
        "m = nn.RNN(2, 3)\nm2 = nn.LSTM(2, 3)\nx = F(4, 1, 2)",
    )  # fmt: skip
