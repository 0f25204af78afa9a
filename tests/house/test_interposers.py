"""Nothing replaces a function in place: who is to see calls is an interposer, in one order."""

import subprocess
import sys

#: What switches on everything that watches calls, once all functions are there.
PROGRAM = """
import rushlight as torch
import rushlight.nn.functional as F
from rushlight._tensor.methods import Later
from rushlight._tensor.watched_methods import ASKING, TAKING

places = [torch, F, torch.linalg, torch.fft, torch.special, torch.autograd, torch.optim.Optimizer,
          torch.Tensor, torch.nn.Module, torch.Generator, torch.autograd.Function]
before = [dict(vars(place)) for place in places]

import rushlight.overrides, rushlight.sparse, rushlight.func, rushlight.profiler, rushlight.amp
import rushlight.fx, rushlight.utils.checkpoint
from rushlight.utils._python_dispatch import TorchDispatchMode
from rushlight.overrides import TorchFunctionMode

class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

x = torch.ones(3, requires_grad=True)
with Functions(), Operations(), torch.autocast("cpu"), torch.autograd.detect_anomaly(False):
    (x * 2).sum().backward()
with torch.profiler.profile(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    (x * 2).sum().backward()
with torch.device("meta"):
    torch.zeros(2) + 1
torch.func.vmap(torch.sin)(torch.ones(2, 2))
torch.func.jvp(torch.sin, (torch.ones(2),), (torch.ones(2),))
step = torch.compile(lambda x: x.tolist()[0] * x if x.sum() > 0 else x)
step(torch.ones(2)), step(torch.ones(2)), step(torch.zeros(2))
torch.ones(2).to_sparse() * 2

for place, old in zip(places, before):
    for name, value in old.items():
        now = vars(place).get(name)
        kept = callable(value) or isinstance(value, property)
        if kept and type(value) is not Later and now is not value:
            assert place is torch.Tensor and name in {*TAKING, *ASKING}, (place, name)
"""


def test_whoever_watches_calls_leaves_the_functions_as_they_are() -> None:
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True)
    assert not found.returncode, found.stderr.decode()[-2000:]
