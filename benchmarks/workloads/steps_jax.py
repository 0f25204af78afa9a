"""The losses of `steps`, for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads.data import uniform
from benchmarks.workloads.sizes import CNN, GPT, LSTM, ODE
from benchmarks.workloads.training import Descent


def cross_entropy(jax: Any, scores: Any, target: Any) -> Any:
    """The mean of minus the logarithm of the probability of each row's class."""
    np = jax.numpy
    logs = jax.nn.log_softmax(scores)
    return -np.take_along_axis(logs, target[:, None], 1).mean()


def elementwise(count: int) -> Callable[[Any], Descent]:
    """Value and gradient of sum(tanh(x w) + exp(-x x))."""

    def describe(jax: Any) -> Descent:
        np = jax.numpy

        def loss(params: Any, w: Any) -> Any:
            (x,) = params
            return (np.tanh(x * w) + np.exp(-x * x)).sum()

        return Descent(loss, [uniform(2, count)], [uniform(1, count)])

    return describe


def recurrent(jax: Any) -> Descent:
    """An LSTM over a sequence, classified by its last state."""
    np = jax.numpy

    def loss(params: Any, x: Any, target: Any) -> Any:
        w_in, w_state, b_in, b_state, w_head, b_head = params

        def cell(carry: Any, drive: Any) -> Any:
            h, c = carry
            i, f, g, o = np.split(drive + h @ w_state.T, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * np.tanh(g)
            return (jax.nn.sigmoid(o) * np.tanh(c), c), None

        zero = np.zeros((LSTM.batch, LSTM.features), np.float32)
        (h, _), _ = jax.lax.scan(cell, (zero, zero), x @ w_in.T + (b_in + b_state))
        return cross_entropy(jax, h @ w_head.T + b_head, target)

    return Descent(loss, LSTM.data(), LSTM.weights(), "SGD", LSTM.rate)


def transformer(jax: Any) -> Descent:
    """A language model of decoder blocks, trained by AdamW."""
    np = jax.numpy
    mask = np.tril(np.ones((GPT.places, GPT.places), bool))
    split = (GPT.batch, GPT.places, GPT.heads, GPT.features // GPT.heads)

    def norm(x: Any, weight: Any, bias: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weight + bias

    def block(x: Any, p: Any) -> Any:
        parts = np.split(norm(x, p[0], p[1]) @ p[2].T + p[3], 3, axis=2)
        q, k, v = (part.reshape(split).transpose(0, 2, 1, 3) for part in parts)
        scores = q @ k.swapaxes(2, 3) * (split[-1] ** -0.5)
        y = jax.nn.softmax(np.where(mask, scores, -np.inf)) @ v
        x = x + y.transpose(0, 2, 1, 3).reshape(x.shape) @ p[4].T + p[5]
        h = jax.nn.gelu(norm(x, p[6], p[7]) @ p[8].T + p[9], approximate=False)
        return x + h @ p[10].T + p[11]

    def loss(params: Any, index: Any, target: Any) -> Any:
        x = params[0][index] + params[1]
        for layer in range(GPT.layers):
            x = block(x, params[2 + 12 * layer : 14 + 12 * layer])
        scores = norm(x, params[-3], params[-2]) @ params[-1].T
        return cross_entropy(jax, scores.reshape(-1, GPT.classes), target.reshape(-1))

    return Descent(loss, GPT.data(), GPT.weights(), "AdamW", GPT.rate, GPT.decay)


def convolutional(jax: Any) -> Descent:
    """Two convolutions with pooling and a linear layer, on pictures of 28 x 28."""
    np, lax = jax.numpy, jax.lax

    def layer(x: Any, weight: Any, bias: Any) -> Any:
        x = lax.conv_general_dilated(x, weight, (1, 1), "VALID") + bias[:, None, None]
        window = (1, 1, 2, 2)
        return lax.reduce_window(jax.nn.relu(x), -np.inf, lax.max, window, window, "VALID")

    def loss(params: Any, x: Any, target: Any) -> Any:
        h = layer(layer(x, params[0], params[1]), params[2], params[3])
        scores = h.reshape(CNN.batch, -1) @ params[4].T + params[5]
        return cross_entropy(jax, scores, target)

    return Descent(loss, CNN.data(), CNN.weights(), "SGD", CNN.rate)


def differential(jax: Any) -> Descent:
    """A neural differential equation: Runge-Kutta steps of order four, and back through them."""
    np = jax.numpy
    h = 1 / ODE.places

    def loss(params: Any, start: Any, end: Any) -> Any:
        w1, b1, w2, b2 = params

        def field(y: Any) -> Any:
            return np.tanh(y @ w1.T + b1) @ w2.T + b2

        def step(y: Any, _: Any) -> Any:
            k1 = field(y)
            k2 = field(y + h / 2 * k1)
            k3 = field(y + h / 2 * k2)
            k4 = field(y + h * k3)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        y, _ = jax.lax.scan(step, start, None, ODE.places)
        return ((y - end) ** 2).mean()

    return Descent(loss, ODE.data(), ODE.weights(), "Adam", ODE.rate)
