"""A word-level language model: LSTM with tied weights, truncated backpropagation, clipped SGD."""

import math

import torch
import torch.nn as nn

TEXT = """
the cat sat on the mat and the dog sat on the log while the bird sang to the cat and the dog
heard the bird sing and the cat heard the dog bark and the moon rose over the log and the mat
and the bird slept while the dog and the cat sat under the moon and heard the wind sing over
the log until the sun rose and the bird sang again to the cat on the mat and to the dog on the log
"""


class Corpus:
    def __init__(self, words):
        self.word2idx = {}
        for word in words:
            self.word2idx.setdefault(word, len(self.word2idx))
        self.ids = torch.tensor([self.word2idx[word] for word in words]).type(torch.int64)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nlayers):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, ninp, nlayers, dropout=0.2)
        self.decoder = nn.Linear(ninp, ntoken)
        self.decoder.weight = self.encoder.weight
        self.ntoken, self.nhid, self.nlayers = ntoken, ninp, nlayers
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(tokens)), hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(
            self.nlayers, bsz, self.nhid
        )


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


def main():
    torch.manual_seed(1111)
    corpus = Corpus(TEXT.split() * 12)
    data = batchify(corpus.ids, 8)
    model = RNNModel(len(corpus.word2idx), 48, 2)
    criterion = nn.NLLLoss()
    lr, bptt = 5.0, 12
    numbers = {}
    for epoch in range(3):
        model.train()
        total, count = 0.0, 0
        hidden = model.init_hidden(8)
        for i in range(0, data.size(0) - 1, bptt):
            seq_len = min(bptt, len(data) - 1 - i)
            inputs, targets = data[i : i + seq_len], data[i + 1 : i + 1 + seq_len].view(-1)
            model.zero_grad()
            hidden = repackage_hidden(hidden)
            output, hidden = model(inputs, hidden)
            loss = criterion(output, targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
            total += loss.item() * seq_len
            count += seq_len
        numbers[f"perplexity {epoch}"] = math.exp(total / count)
    model.eval()
    hidden = model.init_hidden(1)
    word = torch.randint(len(corpus.word2idx), (1, 1), dtype=torch.long)
    chosen = []
    with torch.no_grad():
        for _ in range(20):
            output, hidden = model(word, hidden)
            word.fill_(torch.multinomial(output.squeeze().exp(), 1)[0])
            chosen.append(word.item())
    numbers["sum of generated words"] = sum(chosen)
    return numbers
