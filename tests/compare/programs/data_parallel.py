"""nn.DataParallel and its functions on a machine without other devices."""

import torch
from observation import near, outcome

nn = torch.nn


def the_wrapped_module_runs_as_it_is() -> None:
    net = nn.Linear(2, 1)
    wrapped = nn.DataParallel(net)
    x = torch.randn(4, 2)
    print(wrapped(x).equal(net(x)), wrapped.module is net, wrapped.device_ids)


def it_prints_and_names_parameters_with_a_prefix() -> None:
    wrapped = nn.DataParallel(nn.Linear(2, 1))
    print(wrapped, [n for n, _ in wrapped.named_parameters()], list(wrapped.state_dict()))


def gradients_reach_the_module() -> None:
    wrapped = nn.DataParallel(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    wrapped(torch.randn(8, 3)).pow(2).mean().backward()
    print([near(p.grad.norm()) for p in wrapped.parameters()])


def keyword_arguments_pass_through() -> None:
    class Net(nn.Module):
        def forward(self, x, *, k=1):
            return {"out": x * k, "list": [x]}

    print(nn.DataParallel(Net())(torch.ones(1), k=3))


def attributes_belong_to_the_wrapper() -> None:
    wrapped = nn.DataParallel(nn.Linear(2, 1))
    outcome(lambda: wrapped.weight)
    print(wrapped.training, wrapped.eval().module.training)


def errors_come_through() -> None:
    outcome(nn.DataParallel(nn.Linear(2, 1)), torch.ones(1, 3))
    outcome(nn.DataParallel(nn.Linear(2, 1)))


def a_checkpoint_of_it_loads_into_it() -> None:
    a, b = nn.DataParallel(nn.Linear(2, 1)), nn.DataParallel(nn.Linear(2, 1))
    print(b.load_state_dict(a.state_dict()), a.module.weight.equal(b.module.weight))
    outcome(nn.Linear(2, 1).load_state_dict, a.state_dict())


def saved_tensor_hooks_apply_inside() -> None:
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x):
            with torch.autograd.graph.saved_tensors_hooks(
                lambda t: print("pack") or t, lambda t: print("unpack") or t
            ):
                return self.w * x

    net = nn.DataParallel(Net())
    net(torch.ones(2, 2)).sum().backward()
    print(net.module.w.grad)
