"""pyhessian: the largest eigenvalues and the trace of a loss's Hessian."""

NEEDS = ["pyhessian==0.1"]
RTOL = 5e-3


def main():
    import numpy
    import torch
    from pyhessian import hessian
    from torch import nn

    torch.manual_seed(0)
    numpy.random.seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
    x, y = torch.randn(40, 6), torch.randint(0, 3, (40,))
    measured = hessian(net, nn.CrossEntropyLoss(), data=(x, y), cuda=False)
    values, vectors = measured.eigenvalues(maxIter=50, top_n=2)
    trace = measured.trace(maxIter=30, tol=1e-3)
    return {
        "values": values,
        "vector": [part.abs() for part in vectors[0]],
        "trace": sum(trace) / len(trace),
    }
