"""CTC.

A bidirectional GRU learns to read a noisy signal without alignments, with packed sequences.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def main():
    torch.manual_seed(31)
    codes = torch.randn(6, 8)
    rnn = nn.GRU(8, 16, bidirectional=True, batch_first=True)
    head = nn.Linear(32, 6)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    losses = []
    for _ in range(12):
        targets, signals = [], []
        for _ in range(8):
            word = torch.randint(1, 6, (int(torch.randint(2, 6, ())),))
            signal = codes[word.repeat_interleave(3)] + 0.1 * torch.randn(3 * len(word), 8)
            targets.append(word)
            signals.append(signal)
        lengths = torch.tensor([len(s) for s in signals])
        packed = pack_padded_sequence(
            pad_sequence(signals, batch_first=True), lengths, batch_first=True, enforce_sorted=False
        )
        hidden, _ = pad_packed_sequence(rnn(packed)[0], batch_first=True)
        log_probs = head(hidden).log_softmax(-1).transpose(0, 1)
        loss = ctc(log_probs, torch.cat(targets), lengths, torch.tensor([len(t) for t in targets]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(rnn.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
    return {"first": losses[0], "last": losses[-1]}
