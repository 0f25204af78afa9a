"""Lazy layers, bags of embeddings, the adaptive softmax, parametrizations, norms, pruning."""

import copy
import importlib
import pickle
import warnings

import torch
from observation import near, outcome

nn = torch.nn
parametrize, ready = nn.utils.parametrize, nn.utils.parametrizations
prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
warnings.simplefilter("ignore")


def lazy_layers_learn_their_sizes() -> None:
    for make, shape in (
        (lambda: nn.LazyLinear(4), (2, 3)),
        (lambda: nn.LazyConv2d(4, 2), (1, 3, 5, 5)),
        (lambda: nn.LazyConvTranspose1d(4, 2, bias=False), (1, 3, 5)),
        (lambda: nn.LazyBatchNorm1d(), (4, 3)),
        (lambda: nn.LazyInstanceNorm2d(), (2, 3, 2, 2)),
    ):
        torch.manual_seed(0)
        layer = make()
        print(layer, layer.has_uninitialized_params(), list(layer.state_dict()))
        layer(torch.ones(shape))
        print(layer, [near(v.double().sum(), 4) for v in layer.state_dict().values()])
        other = make()
        print(other.load_state_dict(layer.state_dict()), other.has_uninitialized_params())


def tensors_without_a_shape_refuse_most_things() -> None:
    p = nn.parameter.UninitializedParameter()
    print(p, isinstance(p, nn.Parameter), p.dtype)
    for action in (lambda: p.shape, p.share_memory_):
        outcome(action)
    for action in (lambda: p + 1, p.sum, p.numel):
        try:
            action()
        except ValueError as error:
            print(str(error)[:45])
    print(type(copy.deepcopy(p)).__name__, type(pickle.loads(pickle.dumps(p))).__name__)
    p.materialize((2, 3))
    print(type(p).__name__, p.shape, (p * 0).sum())


def bags_of_embeddings() -> None:
    for mode in ("sum", "mean", "max"):
        torch.manual_seed(0)
        bag = nn.EmbeddingBag(6, 3, mode=mode, padding_idx=2)
        out = bag(torch.tensor([1, 2, 5, 3]), torch.tensor([0, 2, 4]))
        out.pow(2).sum().backward()
        print(bag, near(out, 4), near(bag.weight.grad, 4))


def the_adaptive_softmax() -> None:
    torch.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0)
    x, y = torch.randn(5, 8), torch.tensor([0, 2, 4, 8, 11])
    output, loss = layer(x, y)
    loss.backward()
    print(layer, near(output, 4), near(loss, 4))
    print([near(p.grad.abs().sum(), 3) for p in layer.parameters()])
    print(near(layer.log_prob(x).exp().sum(1), 4), layer.predict(x))
    outcome(layer, x, y + 5)
    outcome(lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 3]))


class _Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def a_parametrized_tensor_is_computed_when_it_is_read() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", _Symmetric())
    print(layer, list(layer.state_dict()), near(layer.weight, 4))
    print(parametrize.is_parametrized(layer, "weight"), layer.weight is layer.weight)
    with parametrize.cached():
        print(layer.weight is layer.weight)
    layer.weight = torch.ones(3, 3)
    print(layer.parametrizations.weight.original)
    outcome(pickle.dumps, layer)
    outcome(parametrize.register_parametrization, layer, "missing", _Symmetric())
    parametrize.remove_parametrizations(layer, "weight")
    print(layer, type(layer.weight).__name__, layer.weight)


def ready_made_parametrizations() -> None:
    for function in (ready.weight_norm, ready.spectral_norm, ready.orthogonal):
        for make in (lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 4), lambda: nn.Linear(4, 3)):
            torch.manual_seed(1)
            layer = function(make())
            layer.weight.pow(3).sum().backward()
            print(list(layer.state_dict()), near(layer.weight.flatten()[:4], 3))
            print([None if p.grad is None else near(p.grad.abs().max(), 3)
                   for p in layer.parameters()])  # fmt: skip
    outcome(ready.orthogonal, nn.Linear(2, 2), orthogonal_map="other")
    outcome(ready.orthogonal, nn.Linear(2, 2), "bias")


def norms_by_hooks() -> None:
    for put, take in (
        (nn.utils.weight_norm, nn.utils.remove_weight_norm),
        (nn.utils.spectral_norm, nn.utils.remove_spectral_norm),
    ):
        torch.manual_seed(1)
        layer = put(nn.Linear(3, 4))
        out = layer(torch.ones(1, 3))
        out.pow(2).sum().backward()
        print(list(layer.state_dict()), near(out, 4), type(layer.weight).__name__)
        print([near(p.grad.flatten()[:3], 3) for p in layer.parameters()])
        outcome(put, layer)
        take(layer)
        print(list(layer.state_dict()), type(layer.weight).__name__)
        outcome(take, layer)


def pruning_holds_entries_at_zero() -> None:
    for function, arguments in (
        (prune.identity, ()),
        (prune.random_unstructured, (0.5,)),
        (prune.l1_unstructured, (3,)),
        (prune.random_structured, (1, 0)),
        (prune.ln_structured, (0.5, 2, 1)),
        (prune.custom_from_mask, (torch.eye(3, 4),)),
    ):
        torch.manual_seed(2)
        layer = function(nn.Linear(4, 3), "weight", *arguments)
        print(list(layer.state_dict()), layer.weight_mask.tolist(), prune.is_pruned(layer))
        prune.l1_unstructured(layer, "weight", 2)
        print(layer.weight_mask.tolist(), len(layer._forward_pre_hooks))
        print(near(prune.remove(layer, "weight").weight.flatten()[:5], 4), list(layer.state_dict()))
    for amount in (-1, 1.5, "x", 100):
        outcome(prune.l1_unstructured, nn.Linear(4, 3), "weight", amount)
    outcome(prune.remove, nn.Linear(4, 3), "weight")


def a_norm_is_fused_into_the_layer_before_it() -> None:
    torch.manual_seed(0)
    conv, norm = nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3).eval()
    norm.running_mean.add_(0.5)
    fused = nn.utils.fuse_conv_bn_eval(conv, norm)
    x = torch.randn(1, 2, 4, 4)
    print(fused, torch.allclose(fused(x), norm(conv(x)), atol=1e-6))
    outcome(nn.utils.fuse_conv_bn_eval, nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))
    print(nn.utils.skip_init(nn.Linear, 2, 3))
