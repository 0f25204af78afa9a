"""Sequence to sequence with Bahdanau attention.

GRU encoder and decoder reverse a string of digits.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        return self.gru(self.dropout(self.embedding(input)))


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa, self.Ua, self.Va = (
            nn.Linear(hidden_size, hidden_size),
            nn.Linear(hidden_size, hidden_size),
            nn.Linear(hidden_size, 1),
        )

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_outputs, hidden, target):
        token = torch.empty(encoder_outputs.size(0), 1, dtype=torch.long).fill_(0)
        outputs, attentions = [], []
        for i in range(target.size(1)):
            embedded = self.embedding(token)
            context, weights = self.attention(hidden.permute(1, 0, 2), encoder_outputs)
            output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
            outputs.append(self.out(output))
            attentions.append(weights)
            token = (
                target[:, i].unsqueeze(1) if i % 2 else outputs[-1].topk(1)[1].squeeze(-1).detach()
            )
        return (
            F.log_softmax(torch.cat(outputs, dim=1), dim=-1),
            hidden,
            torch.cat(attentions, dim=1),
        )


def main():
    torch.manual_seed(6)
    encoder, decoder = EncoderRNN(10, 24), AttnDecoderRNN(24, 10)
    enc, dec = (torch.optim.Adam(m.parameters(), lr=5e-3) for m in (encoder, decoder))
    criterion = nn.NLLLoss()
    losses = []
    for _ in range(15):
        source = torch.randint(1, 10, (32, 6))
        target = source.flip(1)
        enc.zero_grad()
        dec.zero_grad()
        outputs, hidden = encoder(source)
        decoded, _, attention = decoder(outputs, hidden, target)
        loss = criterion(decoded.view(-1, decoded.size(-1)), target.reshape(-1))
        loss.backward()
        enc.step()
        dec.step()
        losses.append(loss.item())
    return {
        "first": losses[0],
        "last": losses[-1],
        "attention": attention.detach().max(-1).values.mean().item(),
    }
