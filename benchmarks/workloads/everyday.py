"""Training steps of the kinds that people write every day, small enough that overhead shows.

Each maker gets a module (`torch` or `rushlight`) and gives a step with the tensors that it is
called with. `benchmarks.coverage` runs them eagerly and compiled, and says which calls stay with
Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from benchmarks.workloads.data import uniform
from benchmarks.workloads.training import fill

Step = tuple[Callable[..., Any], list[Any], list[Any]]  # what runs, its arguments, what it trains
Maker = Callable[[Any], Step]
ROWS: Final = 64
WIDTH: Final = 64
CLASSES: Final = 10


def data(torch: Any, number: int, *shape: int) -> Any:
    """Floats between -1 and 1, the same for every system."""
    return torch.tensor(uniform(number, *shape))


def whole(torch: Any, number: int, high: int, *shape: int) -> Any:
    """Whole numbers below a limit."""
    return ((data(torch, number, *shape) * 0.5 + 0.5) * (high - 0.01)).long()


def training(torch: Any, model: Any, loss: Callable[..., Any], arguments: list[Any],
             optimizer: Any = None) -> Step:  # fmt: skip
    """A whole step: forward, backward, and an optimizer's update (SGD unless told otherwise)."""
    leaves = list(model.parameters()) if hasattr(model, "parameters") else list(model)
    fill(torch, leaves, [uniform(100 + k, *p.shape) * 0.2 for k, p in enumerate(leaves)])
    make = optimizer or (lambda params: torch.optim.SGD(params, lr=0.01))
    update = make(leaves)

    def step(*given: Any) -> Any:
        update.zero_grad()
        found = loss(model, *given)
        found.backward()
        update.step()
        return found

    return step, arguments, leaves


def _layers(torch: Any, *middle: Any, out: int = CLASSES) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(WIDTH, 96), *middle, nn.Linear(96, out))


def _classify(torch: Any, model: Any, *shape: int) -> Step:
    loss = torch.nn.functional.cross_entropy
    x = data(torch, 1, ROWS, *(shape or (WIDTH,)))
    return training(
        torch, model, lambda m, x, t: loss(m(x), t), [x, whole(torch, 2, CLASSES, ROWS)]
    )


def recurrent(kind: str, **options: Any) -> Maker:
    """A recurrent layer over 24 places, classified by its last state."""

    def make(torch: Any) -> Step:
        nn = torch.nn
        layer, head = getattr(nn, kind)(32, 48, **options), nn.Linear(48, CLASSES)
        model = nn.ModuleList([layer, head])
        loss = nn.functional.cross_entropy
        x, t = data(torch, 1, 24, 16, 32), whole(torch, 2, CLASSES, 16)
        return training(torch, model, lambda _, x, t: loss(head(layer(x)[0][-1]), t), [x, t])

    return make


def between(build: Callable[[Any], list[Any]]) -> Maker:
    """A perceptron with something between its layers."""
    return lambda torch: _classify(torch, _layers(torch, *build(torch.nn)))


def planes(build: Callable[[Any], list[Any]]) -> Maker:
    """A small network for pictures with something after its convolution."""

    def make(torch: Any) -> Step:
        nn = torch.nn
        model = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), *build(nn), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(16, CLASSES),
        )  # fmt: skip
        loss = nn.functional.cross_entropy
        x, t = data(torch, 1, 16, 3, 16, 16), whole(torch, 2, CLASSES, 16)
        return training(torch, model, lambda m, x, t: loss(m(x), t), [x, t])

    return make


def regression(loss: Callable[[Any, Any, Any], Any], unit: bool = False) -> Maker:
    """A perceptron with a loss on its outputs and their targets."""

    def make(torch: Any) -> Step:
        nn = torch.nn
        model = _layers(torch, nn.Tanh(), out=16)
        x, t = data(torch, 1, ROWS, WIDTH), data(torch, 2, ROWS, 16)
        t = t * 0.5 + 0.5 if unit else t
        return training(torch, model, lambda m, x, t: loss(torch, m(x), t), [x, t])

    return make


def functional(body: Callable[..., Any], *shapes: tuple[int, ...]) -> Maker:
    """Value and gradients of a function of one weight and some data."""

    def make(torch: Any) -> Step:
        x = data(torch, 1, ROWS, WIDTH)
        leaf = data(torch, 2, WIDTH, WIDTH).requires_grad_()
        more = [data(torch, 3 + k, *shape) for k, shape in enumerate(shapes)]
        return training(torch, [leaf], lambda w, x, *r: body(torch, x @ w[0], *r), [x, *more])

    return make


def updated(make_optimizer: Callable[[Any, Any], Any]) -> Maker:
    """A perceptron under an optimizer."""

    def make(torch: Any) -> Step:
        loss = torch.nn.functional.cross_entropy
        x, t = data(torch, 1, ROWS, WIDTH), whole(torch, 2, CLASSES, ROWS)
        return training(torch, _layers(torch, torch.nn.ReLU()), lambda m, x, t: loss(m(x), t),
                        [x, t], lambda p: make_optimizer(torch.optim, p))  # fmt: skip

    return make


def smoothed(torch: Any) -> Step:
    """A classifier with smoothed labels."""
    loss = torch.nn.functional.cross_entropy
    x, t = data(torch, 1, ROWS, WIDTH), whole(torch, 2, CLASSES, ROWS)
    model = _layers(torch, torch.nn.ReLU())
    return training(torch, model, lambda m, x, t: loss(m(x), t, label_smoothing=0.1), [x, t])


def likelihood(torch: Any) -> Step:
    """Negative log-likelihood of `log_softmax`, with weights of classes."""
    F = torch.nn.functional
    x, t = data(torch, 1, ROWS, WIDTH), whole(torch, 2, CLASSES, ROWS)
    model = _layers(torch, torch.nn.ReLU())
    return training(torch, model, lambda m, x, t: F.nll_loss(F.log_softmax(m(x), 1), t), [x, t])


def attention(kind: str) -> Maker:
    """Attention of four heads: a mask, causal, or written by hand with `masked_fill`."""

    def make(torch: Any) -> Step:
        nn, F = torch.nn, torch.nn.functional
        project, out = nn.Linear(64, 192), nn.Linear(64, 64)
        model = nn.ModuleList([project, out])
        x = data(torch, 1, 4, 32, 64)
        mask = torch.tril(torch.ones(32, 32)).bool()

        def loss(_: Any, x: Any) -> Any:
            q, k, v = (p.view(4, 32, 4, 16).transpose(1, 2) for p in project(x).chunk(3, -1))
            if kind == "by hand":
                scores = (q @ k.transpose(-2, -1)) * 0.25
                y = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v
            elif kind == "causal":
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return (out(y.transpose(1, 2).reshape(4, 32, 64)) ** 2).mean()

        return training(torch, model, loss, [x])

    return make


def bag(torch: Any) -> Step:
    """Sums of embeddings, classified."""
    nn = torch.nn
    words, head = nn.EmbeddingBag(200, 32, mode="sum"), nn.Linear(32, CLASSES)
    loss = nn.functional.cross_entropy
    index, t = whole(torch, 1, 200, ROWS, 8), whole(torch, 2, CLASSES, ROWS)
    model = nn.ModuleList([words, head])
    return training(torch, model, lambda _, i, t: loss(head(words(i)), t), [index, t])


def indexed(torch: Any) -> Step:
    """Messages along the edges of a graph: rows gathered, then added to others."""
    nn = torch.nn
    layer = nn.Linear(32, 32)
    x = data(torch, 1, 100, 32)
    a, b = whole(torch, 2, 100, 400), whole(torch, 3, 100, 400)

    def loss(_: Any, x: Any, a: Any, b: Any) -> Any:
        y = torch.zeros(100, 32).index_add(0, b, layer(x)[a])
        y = y.scatter_add(1, whole_columns, x)
        return (torch.gather(y, 1, whole_columns) ** 2).mean()

    whole_columns = whole(torch, 4, 32, 100, 32)
    return training(torch, layer, loss, [x, a, b])


def clipped(torch: Any) -> Step:
    """Gradients clipped by their norm before the update."""
    nn = torch.nn
    model = _layers(torch, nn.ReLU())
    x, t = data(torch, 1, ROWS, WIDTH), whole(torch, 2, CLASSES, ROWS)
    _, arguments, leaves = training(torch, model, lambda m, x, t: m(x), [x, t])
    optimizer = torch.optim.AdamW(leaves, lr=1e-3)

    def step(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        nn.utils.clip_grad_norm_(leaves, 1.0)
        optimizer.step()
        return loss

    return step, arguments, leaves


def lines(torch: Any) -> Step:
    """Convolutions along a line, padded, pooled and transposed."""
    nn, F = torch.nn, torch.nn.functional
    model = nn.Sequential(
        nn.Conv1d(4, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
        nn.ConvTranspose1d(16, 4, 4, stride=2, padding=1),
    )  # fmt: skip
    x = data(torch, 1, 16, 4, 64)
    return training(torch, model, lambda m, x: F.mse_loss(m(F.pad(x, (1, 1)))[..., 1:-1], x), [x])


def transposed(torch: Any) -> Step:
    """A small autoencoder of pictures."""
    nn, F = torch.nn, torch.nn.functional
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.1),
        nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1), nn.Sigmoid(),
    )  # fmt: skip
    x = data(torch, 1, 8, 3, 16, 16) * 0.5 + 0.5
    return training(torch, model, lambda m, x: F.binary_cross_entropy(m(x), x), [x])


def encoder(torch: Any) -> Step:
    """A layer of a transformer's encoder, in training, with dropout."""
    nn = torch.nn
    model = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
    x = data(torch, 1, 4, 32, 64)
    return training(torch, model, lambda m, x: (m(x) ** 2).mean(), [x],
                    lambda p: torch.optim.AdamW(p, lr=1e-3))  # fmt: skip


def rms(torch: Any, x: Any) -> Any:
    """The root-mean-square norm as many models write it."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def variational(torch: Any) -> Step:
    """A variational autoencoder, with noise and the divergence by hand."""
    nn, F = torch.nn, torch.nn.functional
    inner, outer = nn.Linear(WIDTH, 32), nn.Linear(16, WIDTH)
    x = data(torch, 1, ROWS, WIDTH) * 0.5 + 0.5

    def loss(_: Any, x: Any) -> Any:
        mean, log = inner(x).chunk(2, 1)
        z = mean + torch.exp(0.5 * log) * torch.randn_like(mean)
        near = F.binary_cross_entropy_with_logits(outer(z), x, reduction="sum")
        return near - 0.5 * torch.sum(1 + log - mean.pow(2) - log.exp())

    return training(torch, nn.ModuleList([inner, outer]), loss, [x],
                    lambda p: torch.optim.Adam(p, lr=1e-3))  # fmt: skip


def assembled(torch: Any, y: Any) -> Any:
    """Cut apart, joined, stacked, padded, where and clamped."""
    a, b = y.split(WIDTH // 2, 1)
    c = torch.cat([b.clamp(-1, 1), torch.where(a > 0, a, a * 0.1)], 1)
    d = torch.stack([c, y], 0).sum(0)
    return torch.nn.functional.pad(d, (1, 2, 0, 1)).square().mean()


def ranked(torch: Any, y: Any) -> Any:
    """Maxima with their places, sums along, logarithms of sums."""
    top, place = y.max(1)
    low = y.amin(0)
    close = torch.logsumexp(y, 1) - top
    right = (y.argmax(1) == place).float().mean()
    return (close + low.mean() + right + y.cumsum(1)[:, -1] * 0.01).mean()


STEPS: Final[dict[str, Maker]] = {
    "rnn": recurrent("RNN"),
    "gru": recurrent("GRU"),
    "lstm": recurrent("LSTM"),
    "lstm, two layers": recurrent("LSTM", num_layers=2),
    "layer norm": between(lambda nn: [nn.LayerNorm(96), nn.GELU()]),
    "group norm": planes(lambda nn: [nn.GroupNorm(4, 16), nn.SiLU()]),
    "instance norm": planes(lambda nn: [nn.InstanceNorm2d(16, affine=True), nn.ReLU()]),
    "batch norm 2d": planes(lambda nn: [nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)]),
    "batch norm 1d": between(lambda nn: [nn.BatchNorm1d(96), nn.ReLU()]),
    "rms norm": between(lambda nn: [nn.RMSNorm(96), nn.ReLU()]),
    "rms norm by hand": functional(lambda torch, y: (rms(torch, y) * y).mean()),
    "dropout": between(lambda nn: [nn.ReLU(), nn.Dropout(0.3)]),
    "elu, softplus": between(lambda nn: [nn.ELU(), nn.Softplus(), nn.Hardtanh()]),
    "max, argmax, cumsum": functional(ranked),
    "cat, split, pad": functional(assembled),
    "mse": regression(lambda torch, y, t: torch.nn.functional.mse_loss(y, t)),
    "huber": regression(lambda torch, y, t: torch.nn.functional.huber_loss(y, t)),
    "smooth l1, l1": regression(
        lambda torch, y, t: torch.nn.functional.smooth_l1_loss(y, t)
        + torch.nn.functional.l1_loss(y, t)
    ),
    "bce with logits": regression(
        lambda torch, y, t: torch.nn.functional.binary_cross_entropy_with_logits(y, t), True
    ),
    "kl": regression(
        lambda torch, y, t: torch.nn.functional.kl_div(
            torch.log_softmax(y, 1), torch.softmax(t, 1), reduction="batchmean"
        )
    ),
    "nll": likelihood,
    "label smoothing": smoothed,
    "attention, masked": attention("masked"),
    "attention, causal": attention("causal"),
    "attention by hand": attention("by hand"),
    "encoder layer": encoder,
    "embedding bag": bag,
    "gather, index_add": indexed,
    "conv1d": lines,
    "conv2d transposed": transposed,
    "average pool": planes(lambda nn: [nn.ReLU(), nn.AvgPool2d(2)]),
    "vae": variational,
    "clip, adamw": clipped,
    "sgd nesterov": updated(
        lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
    ),
    "adam amsgrad": updated(lambda optim, p: optim.Adam(p, lr=1e-3, amsgrad=True)),
    "rmsprop": updated(lambda optim, p: optim.RMSprop(p, lr=1e-3, momentum=0.9)),
    "adagrad": updated(lambda optim, p: optim.Adagrad(p, lr=1e-2)),
    "adadelta": updated(lambda optim, p: optim.Adadelta(p)),
    "nadam": updated(lambda optim, p: optim.NAdam(p, lr=1e-3)),
    "radam": updated(lambda optim, p: optim.RAdam(p, lr=1e-3)),
    "adamax": updated(lambda optim, p: optim.Adamax(p, lr=1e-3)),
}  # fmt: skip
