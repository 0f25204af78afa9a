"""A variational autoencoder of digits: the reparameterisation trick and a KL term."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

NEEDS = ("scikit-learn",)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc21 = nn.Linear(48, 8)
        self.fc22 = nn.Linear(48, 8)
        self.fc3 = nn.Linear(8, 48)
        self.fc4 = nn.Linear(48, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x.view(-1, 64), reduction="sum")
    return bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


def main():
    torch.manual_seed(7)
    data = torch.tensor(load_digits().data / 16.0, dtype=torch.float)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    numbers = {}
    for epoch in range(3):
        total = 0.0
        for batch in torch.utils.data.DataLoader(data, batch_size=128, shuffle=True):
            optimizer.zero_grad()
            recon, mu, logvar = model(batch)
            loss = loss_function(recon, batch, mu, logvar)
            loss.backward()
            total += loss.item()
            optimizer.step()
        numbers[f"loss {epoch}"] = total / len(data)
    with torch.no_grad():
        sample = model.decode(torch.randn(16, 8))
    numbers["mean of samples"] = sample.mean().item()
    return numbers
