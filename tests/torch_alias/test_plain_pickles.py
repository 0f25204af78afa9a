"""What `pickle.dumps` writes where `torch` is Rushlight: PyTorch's names, and nothing of ours."""

from tests.torch_alias.test_alias import aliased, python

NAMES = """
import pickle, pickletools, torch
from torch import nn

def names(value):
    strings, found = [], set()
    for op, arg, _ in pickletools.genops(pickle.dumps(value, protocol=2)):
        if op.name == "GLOBAL":
            found.add(arg.replace(" ", "."))
    return sorted(found)
"""


def test_tensors_and_parameters_are_pickled_by_pytorchs_names() -> None:
    code = (
        NAMES
        + """
print(names(torch.ones(2)))
print(names(nn.Parameter(torch.ones(2))))
print(names([torch.float32, torch.Size([1]), torch.device("cpu"), torch.strided]))
print(names(torch.eye(2).to_sparse()))
print("torch.return_types.max" in names(torch.ones(2, 2).max(0)))
print("torch._C.Generator" in names(torch.Generator()))
"""
    )
    tensor = ["collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
              "torch.storage._load_from_bytes"]  # fmt: skip
    lines = aliased(code).splitlines()
    assert lines[0].replace("'_codecs.encode', ", "") == str(tensor)
    assert "'torch._utils._rebuild_parameter'" in lines[1] and "rushlight" not in "".join(lines)
    assert lines[2] == str(["torch.Size", "torch.device", "torch.float32",
                            "torch.serialization._get_layout"])  # fmt: skip
    assert "'torch._utils._rebuild_sparse_tensor'" in lines[3]
    assert lines[4:] == ["True", "True"]


def test_modules_and_optimizers_hold_no_name_of_ours_and_come_back() -> None:
    code = (
        NAMES
        + """
net = nn.Sequential(nn.LSTM(2, 3), nn.ChannelShuffle(1), nn.MultiheadAttention(4, 2))
net.append(nn.LazyLinear(2)).append(nn.utils.spectral_norm(nn.Linear(2, 2)))
things = [net, torch.optim.Adam(net[0].parameters()), torch.distributions.Normal(0., 1.),
          nn.utils.rnn.pack_sequence([torch.ones(2)]), torch.relu, nn.functional.gelu, torch.Tensor]
for thing in things:
    assert not any(n.startswith("rushlight") for n in names(thing)), names(thing)
again = pickle.loads(pickle.dumps(net))
print(torch.equal(again[0].weight_hh_l0, net[0].weight_hh_l0), type(again[3]) is nn.LazyLinear)
"""
    )
    assert aliased(code) == "True True"


def test_classes_say_torch_whenever_their_module_is_loaded() -> None:
    code = """
import torch, inspect
print(torch.nn.Linear.__module__, torch.Tensor.__module__, torch.dtype.__module__)
import torch.distributions.poisson
print(torch.distributions.Poisson.__module__)
print(torch.nn.modules.linear is rushlight.nn.modules.linear)
print("class Poisson" in inspect.getsource(torch.distributions.Poisson))
"""
    assert aliased(code).splitlines() == [
        "torch.nn.modules.linear torch torch",
        "torch.distributions.poisson",
        "True",
        "True",
    ]


def test_without_the_alias_they_say_rushlight_and_pickle_there() -> None:
    code = """
import pickle, rushlight as torch
print(torch.nn.Linear.__module__)
net = pickle.loads(pickle.dumps(torch.nn.Linear(2, 2)))
print(pickle.loads(pickle.dumps(torch.bool)) is torch.bool, net.in_features)
"""
    done = python("-c", code)
    assert done.stdout.split() == ["rushlight.nn.modules.linear", "True", "2"], done.stderr
