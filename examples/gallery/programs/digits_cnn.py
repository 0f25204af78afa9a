"""A convolutional network on scikit-learn's digits.

Two convolutions, dropout, NLL loss, Adadelta.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

NEEDS = ("scikit-learn",)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, 1)
        self.conv2 = nn.Conv2d(16, 32, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(128, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = torch.flatten(x, 1)
        x = self.dropout2(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, device, loader, optimizer):
    model.train()
    last = 0.0
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        last = loss.item()
    return last


def test(model, device, loader):
    model.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            total += F.nll_loss(output, target, reduction="sum").item()
            correct += (
                output.argmax(dim=1, keepdim=True)
                .eq(target.view_as(output.argmax(1, True)))
                .sum()
                .item()
            )
    return total / len(loader.dataset), correct / len(loader.dataset)


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    labels = torch.tensor(labels)
    training = TensorDataset(images[:1500], labels[:1500])
    held_out = TensorDataset(images[1500:], labels[1500:])
    loader = DataLoader(training, batch_size=64, shuffle=True)
    test_loader = DataLoader(held_out, batch_size=100)
    model = Net().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    numbers = {}
    for epoch in range(1, 4):
        numbers[f"train loss {epoch}"] = train(model, device, loader, optimizer)
        numbers[f"test loss {epoch}"], numbers[f"accuracy {epoch}"] = test(
            model, device, test_loader
        )
        scheduler.step()
    return numbers
