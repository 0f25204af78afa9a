"""nnAudio, asteroid-filterbanks and auraloss: spectra with gradients and losses on waves."""

NEEDS = [
    "nnAudio==0.3.4",
    "asteroid-filterbanks==0.4.0",
    "auraloss==0.4.0",
    "typing_extensions==4.16.0",
]
RTOL = 5e-3
ATOL = 1e-4


def main():
    import auraloss
    import torch
    from asteroid_filterbanks import STFTFB, Decoder, Encoder, FreeFB, make_enc_dec
    from nnAudio import features

    torch.manual_seed(0)
    time = torch.arange(4000) / 8000
    wave = torch.sin(2 * torch.pi * 440 * time) + 0.3 * torch.sin(2 * torch.pi * 1100 * time)
    noisy = (wave + 0.1 * torch.randn(4000)).requires_grad_()
    mel = features.MelSpectrogram(sr=8000, n_fft=256, n_mels=20, hop_length=64, verbose=False)
    short = features.STFT(n_fft=128, hop_length=32, output_format="Magnitude", verbose=False)
    pitch = features.CQT2010v2(sr=8000, hop_length=128, fmin=110, n_bins=36, verbose=False)
    results = {
        "mel": mel(noisy[None]),
        "short": short(noisy[None]),
        "pitch": pitch(noisy[None]),
    }
    pair = noisy[None, None], wave[None, None]
    for criterion in (
        auraloss.freq.STFTLoss(fft_size=256, hop_size=64, win_length=256),
        auraloss.freq.MultiResolutionSTFTLoss([256, 128], [64, 32], [256, 128]),
        auraloss.time.SISDRLoss(),
        auraloss.time.ESRLoss(),
    ):
        loss = criterion(*pair)
        (gradient,) = torch.autograd.grad(loss, noisy, retain_graph=True)
        results[type(criterion).__name__] = [loss.item(), gradient.norm().item()]
    there = Encoder(STFTFB(n_filters=64, kernel_size=64, stride=32))
    back = Decoder(STFTFB(n_filters=64, kernel_size=64, stride=32))
    results["round"] = back(there(wave[None, None]))
    learned, other = make_enc_dec(FreeFB, n_filters=16, kernel_size=16, stride=8)
    out = other(learned(wave[None, None]))
    out.square().mean().backward()
    results["learned"] = [out.norm(), *(p.grad.norm() for p in learned.parameters())]
    return results
