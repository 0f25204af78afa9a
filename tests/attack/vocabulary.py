"""The sentences that random programs are made of: statements of a step, and changes to its world.

All are source text. `{x}`, `{y}` stand for tensors that the step has by then, `{v}` for the one
that a statement makes; the other names are those of the world, see `PRELUDE`.
"""

from __future__ import annotations

PRELUDE = """
import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F
import numpy as np

def draw(*shape, seed=0, dtype=None):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made.to(dtype or DTYPE)

def whole(*shape, seed=0, below=4):
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(seed))

def read_only(x):
    array = x.detach().numpy().copy()
    array.flags.writeable = False
    return torch.from_numpy(array)

def fit(x, n):
    flat = x.reshape(-1)
    return flat[: flat.numel() // n * n].reshape(-1, n)

def helper(x):
    return x * GAIN

def other_helper(x):
    return x - GAIN

class Thing:
    scale = 0.5
    def __init__(self):
        self.gain, self.mode, self.shift = 1.5, "mul", None
    def act(self, x):
        y = x * self.gain if self.mode == "mul" else x + self.gain
        return (y if self.shift is None else y + self.shift) * self.scale

class Other(Thing):
    scale = -0.5

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.out = nn.Linear(4, 4), nn.Linear(4, 3)
        self.conv, self.norm = nn.Conv1d(1, 2, 3, padding=1), nn.BatchNorm1d(4)
        self.layer, self.drop = nn.LayerNorm(4), nn.Dropout(0.5)
        self.table, self.rnn = nn.Embedding(4, 4), nn.LSTM(4, 4)
        self.free = nn.Parameter(torch.ones(4))
        self.register_buffer("mean", torch.zeros(4))
        self.depth, self.act = 1, "tanh"
    def forward(self, x):
        for _ in range(self.depth):
            x = self.layer(self.lin(x))
            x = torch.tanh(x) if self.act == "tanh" else torch.relu(x)
        return self.out(self.drop(x)) * self.free[:3] + self.mean[:3]

torch.manual_seed(SEED)
GAIN = 1.25
thing = Thing()
knobs = {"n": 2, "rate": 0.3, "on": True, "word": "a"}
items = [1.0, 2, None, 0.5]
model = Net().to(DTYPE)
kept = [draw(4, seed=SEED + 1), draw(3, 4, seed=SEED + 2), whole(4, seed=SEED)]
leaf = draw(4, seed=SEED + 3).requires_grad_()
memory = {}
closed = 0.75
"""

#: Expressions of one tensor.
EXPRESSIONS = """
{x}.tanh() | {x}.sigmoid() * 2 | {x}.relu() | -{x} | {x} * {x} | {x}.abs().sqrt()
{x}.sin() + 1
{x}.clamp(-1, 1) | {x}.exp().clamp(max=9) | ({x}.abs() + 1).log() | {x} ** 2
1 / ({x}.abs() + 1)
{x}.sum() | {x}.sum(0) | {x}.sum(-1, keepdim=True) | {x}.mean() | {x}.mean(-1) | {x}.amax(-1)
{x}.max(0)[0] | {x}.var(-1) | {x}.norm() | {x}.prod() | {x}.cumsum(-1) | {x}.logsumexp(-1)
{x}.softmax(-1) | {x}.log_softmax(0) | F.layer_norm({x}, {x}.shape[-1:]) | {x}.argmax(-1) * 1.0
{x}.t() | {x}.transpose(0, -1) | {x}.reshape(-1) | {x}.view(-1) | {x}.unsqueeze(0)
{x}.squeeze()
{x}[0] | {x}[-1] | {x}[1:] | {x}[..., ::2] | {x}[None] | {x}[..., 0] | {x}.flip(0)
{x}.roll(1, 0)
{x}.expand(2, *{x}.shape) | {x}.repeat(2, 1) | {x}.chunk(2, -1)[0] | {x}.split(2, 0)[-1]
{x}.diagonal()
{x}.tril() | F.pad({x}, (1, 1)) | {x}.clone() | {x}.detach() | {x}.contiguous()
{x}.unfold(-1, 2, 1)
{x}.double() | {x}.float() | {x}.half() | {x}.long() | ({x} > 0) | {x}.to(DTYPE)
{x}.int() // 2 | {x}.bool()
{x}.masked_fill({x} < 0, 0.5) | torch.where({x} > 0, {x}, {x} * 0.1) | {x}[idx]
{x}.index_select(0, idx)
{x}.gather(0, idx) | {x}[{x} > 0] | {x}[{x} > 0].sum() | {x}.nonzero() * 1.0
{x}.masked_select({x} > 0.5)
{x} * len({x}.nonzero()) | {x}.unique() | {x}[{x}.argmax()] | {x}.sort()[0] | {x}.topk(1)[0]
{x}.median()
torch.where({x} > 0)[0] * 1.0 | F.one_hot(idx) * 1.0 | F.one_hot(idx, 4) * 1.0
idx.bincount() * 1.0
torch.repeat_interleave({x}, 2) | {x}.repeat_interleave(idx)
torch.zeros(4).index_add(0, idx, {x})
torch.zeros_like({x}) + 1 | torch.ones(3) * {x}.sum() | torch.arange({x}.numel()) * 0.5
torch.eye(2)
{x} + torch.rand_like({x}) | {x} + torch.randn({x}.shape) | F.dropout({x}, 0.5)
{x} * torch.bernoulli({x}.sigmoid())
torch.randperm(4) * 0.1 | torch.zeros(4).uniform_()
torch.zeros(3).bernoulli_({x}.sigmoid().reshape(-1)[:3])
torch.multinomial({x}.abs().reshape(-1) + 0.1, 1) * 1.0 | torch.normal({x}, 1.0)
model.lin(fit({x}, 4)) | model(fit({x}, 4)) | model.conv({x}.reshape(1, 1, -1))
model.norm(fit({x}, 4)) | F.conv1d({x}.reshape(1, 1, -1), model.conv.weight[:, :, 1:2])
F.conv2d({x}.reshape(1, 1, 2, -1), model.conv.weight.unsqueeze(2), padding=(0, 1))
F.conv_transpose1d({x}.reshape(1, 1, -1), model.conv.weight.transpose(0, 1), stride=2)
F.group_norm({x}.reshape(1, 2, -1), 1) | F.instance_norm({x}.reshape(1, 2, -1))
{x}.unsqueeze(-1) @ {x}.unsqueeze(-2) | {x}.reshape(-1, 1, 1) @ torch.ones(2, 1, 3)
model.layer(fit({x}, 4)) | model.drop({x}) | model.table(idx) | model.rnn(fit({x}, 4))[0]
model.mean * {x}.sum()
model.out(model.lin(fit({x}, 4)).relu()) | model.free * {x}.mean()
F.linear(fit({x}, 4), model.lin.weight)
helper({x}) | thing.act({x}) | {x} * thing.gain | {x} * GAIN + items[0] | {x} * knobs["rate"]
{x} * knobs.get("extra", 2.0)
{x} * closed | {x} * default | {x} + kept[0].sum() | kept[0] * {x}.mean()
{x} * getattr(thing, "bonus", 3.0)
{x} * len(items) | {x} * len(knobs) | {x} + sum(k for k in items if k is not None)
{x}.sum(dim=knobs["n"] % 2)
{x} * Thing.scale | leaf * {x}.sum() | {x} * {x}.shape[0] | {x} * ({x}.dtype == torch.float32)
{x} * {x}.requires_grad
{x} * model.training | {x} * torch.is_grad_enabled() | {x} * {x}.is_contiguous()
{x} * ("n" in knobs)
{x} * {x}.mean().item() | {x} * round({x}.sum().item()) | {x}[: int({x}.sum().abs().item()) % 3]
{x} * float({x}.sum() > 0)
torch.full((2,), {x}.sum().item()) | torch.tensor([1.0, 2.0]) + {x}.mean()
torch.stack([{x}, {x}]) | torch.linalg.cholesky(fit({x}, 4).T @ fit({x}, 4))
torch.linalg.inv(fit({x}, 4).T @ fit({x}, 4) + torch.eye(4, dtype={x}.dtype))
torch.empty_like({x}).copy_({x}) | torch.empty(3).fill_(2)
"""
#: Expressions of two tensors.
PAIRS = """
{x} + {y} | {x} * {y} | {x} - {y} * 0.5 | torch.maximum({x}, {y}) | {x} @ {y}
torch.cat([{x}, {y}])
torch.stack([{x}, {y}]) | torch.where({x} > {y}, {x}, {y}) | torch.lerp({x}, {y}, 0.3)
{x} / ({y}.abs() + 1)
torch.addcmul({x}, {x}, {y}, value=0.5) | F.mse_loss({x}, {y})
torch.outer({x}.reshape(-1)[:3], {y}.reshape(-1)[:3])
F.cross_entropy(fit({x}, 4)[:1], idx[:1]) + {y} | fit({x}, 4) @ fit({y}, 4).t()
torch.equal({x}, {y}) * {x}
{x}.expand_as({y}) | {x}.reshape({y}.shape) | {x}.to({y}.dtype)
torch.einsum("i,j->ij", {x}.reshape(-1), {y}.reshape(-1))
{x}.scatter(0, idx, {y}) | torch.atan2({x}, {y}.abs() + 1) | torch.isclose({x}, {y}) * 1.0
F.embedding(idx, fit({y}, 4)) + {x}.sum()
"""
#: Statements: {v} is made, or something is written.
STATEMENTS = [
    "{v} = {x}.clone()\n{v}.add_(1).mul_({x})",
    "{v} = {x}.clone()\n{v}[0] = {x}[-1]",
    "{v} = {x} * 1\n{v}.view(-1)[::2].mul_(0.5)\n{v}.relu_()",
    "{v} = {x}.clone()\n{v}[{x} > 0] = 0.25",
    "{v} = {x}.clone()\n{v}[idx] = 1.5",
    "{v} = {x}.clone()\n{v}.t().zero_()",
    "a.mul_(0.5)\n{v} = a * 1",
    "a[0] = 2\n{v} = a.sum()",
    "b.add_({x}.detach().sum())\n{v} = b * 2",
    "b.view(-1)[0] += 1\n{v} = b * 1.0",
    "kept[0].add_(1)\n{v} = kept[0] * 1.0",
    "kept[1][0].mul_(0.9)\n{v} = kept[1].sum(0)",
    "with torch.no_grad():\n    leaf.mul_(0.9)\n{v} = leaf * 2",
    "with torch.no_grad():\n    {v} = {x} * leaf.sum()",
    "with torch.enable_grad():\n    {v} = {x} * leaf.mean()",
    "model.mean.lerp_(model.mean + 1, 0.1)\n{v} = model.mean * 1",
    "if {x}.sum() > 0:\n    {v} = {x} * 2\nelse:\n    {v} = {x} - 1",
    "if {x}.numel() > 4:\n    {v} = {x}.sum()\nelse:\n    {v} = {x} * 3",
    "if bool(({x} > 1).any()):\n    {v} = {x}.clamp(max=1)\nelse:\n    {v} = {x} + 1",
    "if knobs['on']:\n    {v} = {x} + 1\nelse:\n    {v} = {x} * 0.5",
    "{v} = {x}\nfor k in range(knobs['n']):\n    {v} = {v} * 0.5 + k",
    "{v} = {x}\nfor k in items:\n    if k is not None:\n        {v} = {v} + k",
    "{v} = {x}\nn = 0\nwhile {v}.abs().sum() > 1 and n < 3:\n    {v} = {v} * 0.3\n    n += 1",
    "k = {x}.mean().item()\n{v} = {x} * k if k > 0 else {x} - k",
    "k = int(idx.max())\n{v} = {x} + k",
    "try:\n    {v} = {x}[5] * 1\nexcept IndexError:\n    {v} = {x} * 2",
    "try:\n    {v} = {x} @ {x}\nexcept RuntimeError:\n    {v} = {x} + 2",
    "assert {x}.sum() < 1000, 'too large'\n{v} = {x} * 1",
    "if {x}.sum() > 6:\n    raise ValueError('large')\n{v} = {x} + 1",
    "{v}, other = {x}.max(0)\n{v} = {v} + other",
    "parts = [p * k for k, p in enumerate({x}.unbind(0))]\n{v} = torch.stack(parts)",
    "table = {{'p': {x}, 'q': {x} * 2}}\n{v} = sum(t.sum() for t in table.values())",
    "memory['last'] = {x}.detach() * 1\n{v} = {x} + 1",
    "{v} = {x} + memory.get('last', 0)",
    "knobs['count'] = knobs.get('count', 0) + 1\n{v} = {x} * 1",
    "thing.calls = getattr(thing, 'calls', 0) + 1\n{v} = {x} * 2",
    "thing.last = {x}.detach()\n{v} = {x} * 1",
    "items.append(0.5)\n{v} = {x} + len(items)",
    "g, = torch.autograd.grad((leaf * {x}.detach().sum()).tanh().sum(), leaf)\n{v} = g * 1",
    "w = {x}.detach().clone().requires_grad_()\n(w * w).sum().backward()\n{v} = w.grad",
    "{v} = torch.utils.checkpoint.checkpoint(lambda t: t.tanh() * 2, {x}, use_reentrant=False)",
    "first, *rest = {x}.reshape(-1)\n{v} = first * len(rest)",
    "{v} = max({x}.reshape(-1)) * 2",
    "{v} = [{x} * k for k in (1, 2)][-1]",
    "view = {x}.reshape(-1)[:2]\n{v} = {x}.clone()\n{v}.reshape(-1)[:2] += view",
]
#: What is returned, of all tensors and of the loss.
RETURNS = [
    "return [v.detach() for v in values]", "return loss.detach()", "return loss.item()",
    "return None",
    "return {'loss': loss.detach(), 'last': values[-1].detach()}",
    "return values[-1], loss.detach()",
    "return values[-1]", "return loss", "return a, values[-1].detach()",
    "return values[-1].detach().view(-1)",
    "return loss.item(), len(values)", "return tuple(v.detach() * 1 for v in values)",
    "return a[0], b",
]  # fmt: skip
#: What a step does in the end, before it returns.
ENDINGS = [
    "pass", "pass", "pass", "loss.backward()",
    "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    "loss.backward()\noptimizer.step()\noptimizer.zero_grad()",
    "grads = torch.autograd.grad(loss, [leaf, model.free], allow_unused=True)\n"
    "values += [g for g in grads if g is not None]",
    "optimizer.zero_grad(set_to_none=False)\nloss.backward()\n"
    "nn.utils.clip_grad_norm_(model.parameters(), 0.5)\noptimizer.step()",
    "loss.backward()\nwith torch.no_grad():\n    for p in (leaf, model.free):\n"
    "        if p.grad is not None:\n            p -= 0.01 * p.grad\n            p.grad = None",
]  # fmt: skip
OPTIMIZERS = [
    "optim.SGD([leaf, *model.parameters()], lr=0.01)",
    "optim.SGD([leaf, *model.parameters()], lr=0.01, momentum=0.9, weight_decay=0.01)",
    "optim.Adam([leaf, *model.parameters()], lr=0.01, eps=0.01)",
    "optim.AdamW([leaf, *model.parameters()], lr=0.01, eps=0.01)",
    "optim.RMSprop([leaf, *model.parameters()], lr=0.01, eps=0.01)",
]
#: The arguments of a step as it is made.
ARGUMENTS = [
    "draw({m}, {n}, seed={s})", "draw({n}, {n}, seed={s})", "draw({n}, seed={s})",
    "draw({m}, {n}, seed={s}).t()",
    "draw({m} * 2, {n}, seed={s})[::2]", "draw(1, {n}, seed={s}).expand({m}, {n})",
    "draw(seed={s})",
    "draw(0, {n}, seed={s})", "draw({m}, {n}, seed={s}).requires_grad_()",
    "whole({m}, {n}, seed={s})",
    "draw({m}, {n}, seed={s}).half()", "draw({m}, {n}, seed={s}) > 0",
    "draw({n}, {n}, seed={s})",
    "draw({n}, {n}, seed={s})", "draw({m}, {n}, seed={s})", "draw({n}, seed={s})",
]  # fmt: skip
