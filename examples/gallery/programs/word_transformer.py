"""A word-level language model on nn.TransformerEncoder with sinusoidal positions."""

import math

import torch
from torch import nn

TEXT = (
    "one two three four five six seven eight nine ten nine eight seven six five four three two "
    * 30
).split()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=500):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0), :])


class TransformerModel(nn.Module):
    def __init__(self, ntoken, ninp=32, nhead=4, nhid=64, nlayers=2):
        super().__init__()
        self.pos_encoder = PositionalEncoding(ninp)
        layer = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout=0.1)
        self.transformer_encoder = nn.TransformerEncoder(layer, nlayers)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.ninp = ninp
        self.decoder = nn.Linear(ninp, ntoken)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, src):
        mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        src = self.pos_encoder(self.encoder(src) * math.sqrt(self.ninp))
        return self.decoder(self.transformer_encoder(src, mask=mask))


def main():
    torch.manual_seed(0)
    words = sorted(set(TEXT))
    ids = torch.tensor([words.index(w) for w in TEXT])
    data = ids[: len(ids) // 10 * 10].view(10, -1).t().contiguous()
    model = TransformerModel(len(words))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=20)
    losses = []
    for step in range(20):
        start = (step * 7) % (data.size(0) - 17)
        loss = nn.functional.cross_entropy(
            model(data[start : start + 16]).flatten(0, 1),
            data[start + 1 : start + 17].flatten(),
            label_smoothing=0.05,
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        held = nn.functional.cross_entropy(model(data[:16]).flatten(0, 1), data[1:17].flatten())
    return {"first": losses[0], "tenth": losses[9], "last": losses[-1], "held out": held.item()}
