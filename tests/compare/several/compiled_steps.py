"""Steps that hold DistributedDataParallel: compiled on Rushlight, eager on PyTorch."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from programs import program


def trained(torch, rank, module, make_optimizer, shape, count=10, **options):
    """The losses of some steps, and the state afterwards; each rank has batches of its own."""
    eager = torch.__name__ == "torch"
    torch.manual_seed(3)
    model = torch.nn.parallel.DistributedDataParallel(module(torch), **options)
    optimizer = make_optimizer(model.parameters())
    made = torch.Generator().manual_seed(rank)

    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = step if eager else torch.compile(step)
    losses = []
    for _ in range(count):
        x, y = torch.randn(*shape, generator=made), torch.randint(0, 4, shape[:1], generator=made)
        losses.append(run(x, y).item())
    assert eager or " compiled\n" in run.explain(), run.explain()
    return [losses, model.state_dict()]


def mlp(torch):
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)
    )


def normed(torch):
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(2, 5, 3, bias=False), nn.BatchNorm2d(5), nn.ReLU(), nn.Flatten(),
        nn.Linear(80, 4),
    )  # fmt: skip


def attending(torch):
    nn = torch.nn

    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.norm, self.out = nn.Linear(5, 24), nn.LayerNorm(8), nn.Linear(8, 4)

        def forward(self, x):
            q, k, v = self.into(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(self.norm(y.transpose(1, 2).flatten(2))).mean(1)

    return Attending()


@program
def compiled_steps_of_a_perceptron(torch, dist, rank, size):
    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)

    whole = trained(torch, rank, mlp, sgd, (7, 6))
    in_many_buckets = trained(torch, rank, mlp, sgd, (7, 6), bucket_cap_mb=0.0002)
    return [whole, in_many_buckets]


@program
def compiled_steps_with_buffers_and_a_first_rank(torch, dist, rank, size):
    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=0.05, nesterov=True, momentum=0.8, weight_decay=0.01)

    shape = (5, 2, 6, 6)
    own = trained(torch, rank, normed, sgd, shape, forward_sync_buffers=False)
    return [trained(torch, rank, normed, sgd, shape), own]


@program
def compiled_steps_of_attention(torch, dist, rank, size):
    # A large eps: where a gradient is but rounding Adam makes steps of it otherwise.
    return trained(
        torch, rank, attending, lambda p: torch.optim.AdamW(p, lr=0.01, eps=1e-3), (3, 6, 5)
    )
