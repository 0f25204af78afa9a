"""An LSTM that reads scikit-learn's digits row by row."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

NEEDS = ("scikit-learn",)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(
            input_size=8, hidden_size=64, num_layers=2, batch_first=True, dropout=0.1
        )
        self.batchnorm = nn.BatchNorm1d(64)
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, rows):
        hidden, _ = self.rnn(rows)
        hidden = self.batchnorm(hidden[:, -1])
        return F.log_softmax(self.fc2(F.relu(self.fc1(hidden))), dim=1)


def main():
    torch.manual_seed(3)
    images, labels = load_digits(return_X_y=True)
    images = torch.from_numpy(images).float().div_(16).reshape(-1, 8, 8)
    labels = torch.from_numpy(labels).long()
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(2):
        order = torch.randperm(1500)
        for batch in order.split(100):
            optimizer.zero_grad(set_to_none=True)
            loss = F.nll_loss(model(images[batch]), labels[batch])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    model.eval()
    with torch.inference_mode():
        right = (model(images[1500:]).argmax(-1) == labels[1500:]).float().mean()
    return {"first loss": losses[0], "last loss": losses[-1], "accuracy": right.item()}
