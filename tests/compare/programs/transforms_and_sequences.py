"""Fourier transforms, windows, masked reductions, attention, CTC, draws by rejection."""

import torch
from observation import outcome

F = torch.nn.functional


def _chain(node, depth: int = 0) -> list[str]:
    """The names of the nodes behind a result, first inputs first."""
    if node is None or depth > 8:
        return []
    names = [node.name()]
    for previous, _ in node.next_functions[:1]:
        names += _chain(previous, depth + 1)
    return names


def _outcomes(*actions) -> None:
    for action in actions:
        outcome(action)


def transforms_are_built_of_three_operations() -> None:
    x = torch.arange(6.0, requires_grad=True)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        y = getattr(torch.fft, name)(x)
        print(name, y.dtype, tuple(y.shape), _chain(y.grad_fn))
    print(_chain(torch.fft.fft(x, 4).grad_fn), _chain(torch.fft.fft(x, 8).grad_fn))


def transforms_lie_in_memory_with_their_dimensions_last() -> None:
    x = torch.zeros(3, 4, 5)
    for dim in (0, 1, 2):
        print(torch.fft.fft(x, dim=dim).stride(), torch.fft.rfft(x, dim=dim).stride())
    print(torch.fft.fft2(x, dim=(2, 0)).stride(), torch.fft.fftn(x.permute(2, 0, 1)).stride())


def transforms_refuse() -> None:
    x = torch.zeros(3, 4)
    _outcomes(
        lambda: torch.fft.fft(x, norm="x"),
        lambda: torch.fft.fft(x, 0),
        lambda: torch.fft.fft(x, dim=2),
        lambda: torch.fft.rfft(x + 0j),
        lambda: torch.fft.fftn(x, s=(1, 2, 3)),
        lambda: torch.fft.fftn(x, dim=(0, 0)),
        lambda: torch.fft.fft(x.half()),
        lambda: torch.fft.fft(x, out=torch.zeros(3, 4)),
        lambda: torch.fft.irfft(x, out=torch.zeros(3, 6, dtype=torch.complex64)),
    )


def spectrograms_and_back() -> None:
    x = torch.arange(64.0, requires_grad=True)
    window = torch.hann_window(16)
    there = torch.stft(x, 16, 4, 16, window, return_complex=True)
    back = torch.istft(there, 16, 4, 16, window, length=64)
    print(tuple(there.shape), there.stride(), _chain(there.grad_fn), _chain(back.grad_fn))
    print(torch.allclose(back, x, atol=1e-4))
    _outcomes(
        lambda: torch.stft(x, 16),
        lambda: torch.stft(x, 16, 4, 17, return_complex=True),
        lambda: torch.istft(there, 16, 4, 16, window, center=False),
        lambda: torch.istft(there, 12, 4),
    )


def masked_reductions() -> None:
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    for name in ("sum", "prod", "amax", "mean", "var", "argmax", "median", "logsumexp"):
        y = getattr(torch.masked, name)(x, 1, mask=mask)
        print(name, y.tolist(), None if y.grad_fn is None else y.grad_fn.name())
    outcome(lambda: torch.masked.mean(x.int(), 1))


def attention_and_its_gradients() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    y = F.scaled_dot_product_attention(q, k, v, mask)
    print(y, y.grad_fn.name(), torch.autograd.grad(y.sum(), (q, k, v)))
    torch.manual_seed(1)
    print(F.scaled_dot_product_attention(q, k, v, dropout_p=0.5))
    _outcomes(
        lambda: F.scaled_dot_product_attention(q, k.float(), v),
        lambda: F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], enable_gqa=True),
        lambda: F.scaled_dot_product_attention(q, k, v, mask.int()),
        lambda: F.scaled_dot_product_attention(q[0, 0, 0], k[0, 0, 0], v[0, 0, 0]),
    )


def sequences_without_alignment() -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 2, 4, dtype=torch.float64).log_softmax(2).requires_grad_()
    y = torch.tensor([[1, 2], [3, 3]])
    loss = F.ctc_loss(x, y, (6, 2), (2, 2), reduction="none")
    print(loss, loss.grad_fn.name())
    print(torch.autograd.grad(loss[0], x)[0][:, 0])
    print(F.ctc_loss(x, y, (6, 2), (2, 2), zero_infinity=True))
    _outcomes(
        lambda: F.ctc_loss(x, y, (7, 2), (2, 2)),
        lambda: F.ctc_loss(x, y, (6, 2), (3, 2)),
        lambda: F.ctc_loss(x, y, (6, 2), (2, 2), blank=4),
        lambda: F.ctc_loss(x.half(), y, (6, 2), (2, 2)),
    )


def draws_by_rejection() -> None:
    rate = torch.tensor([0.0, 0.5, 3.0, 9.0, 10.0, 50.0])
    torch.manual_seed(0)
    print(torch.poisson(rate), torch.poisson(rate.double()), torch.rand(2))
    print(torch.binomial(rate.floor() * 4, torch.full((6,), 0.3)), torch.rand(2))
    print(torch._standard_gamma(rate + 0.1), torch._standard_gamma(rate.double() + 0.1))
    print(torch.randn(1), torch._sample_dirichlet(rate.reshape(2, 3) + 1))
    _outcomes(
        lambda: torch.poisson(-rate),
        lambda: torch.poisson(torch.tensor([1])),
        lambda: torch.binomial(rate, rate.double()),
    )
