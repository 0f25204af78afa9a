"""snntorch: leaky integrate-and-fire neurons trained through surrogate gradients."""

NEEDS = ["snntorch==1.0.0"]
RTOL = 1e-3


def main():
    import snntorch as snn
    import torch
    from snntorch import surrogate
    from torch import nn

    torch.manual_seed(0)
    gradient = surrogate.fast_sigmoid(slope=25)
    first, second = nn.Linear(10, 20), nn.Linear(20, 3)
    a, b = snn.Leaky(beta=0.9, spike_grad=gradient), snn.Leaky(beta=0.8, spike_grad=gradient)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.05)
    x, y = torch.rand(8, 16, 10), torch.randint(0, 3, (16,))
    losses = []
    for _ in range(5):
        one, two = a.init_leaky(), b.init_leaky()
        loss, spikes = 0.0, 0.0
        for step in x:
            spike, one = a(first(step), one)
            out, two = b(second(spike), two)
            loss = loss + nn.functional.cross_entropy(two, y)
            spikes += out.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "spikes": spikes}
