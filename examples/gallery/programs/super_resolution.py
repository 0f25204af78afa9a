"""Super-resolution with a sub-pixel convolution (PixelShuffle) on digits."""

import torch
import torch.nn as nn
import torch.nn.init as init
from sklearn.datasets import load_digits

NEEDS = ("scikit-learn",)


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU(inplace=False)
        self.conv1 = nn.Conv2d(1, 32, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(32, 32, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(32, 16, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(16, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        for conv in (self.conv1, self.conv2, self.conv3):
            init.orthogonal_(conv.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))


def main():
    torch.manual_seed(123)
    large = torch.tensor(load_digits().images[:256] / 16, dtype=torch.float32).unsqueeze(1)
    small = nn.functional.avg_pool2d(large, 2)
    model = Net(2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.MSELoss()
    numbers = {}
    for epoch in range(3):
        total = 0.0
        for i in range(0, 256, 32):
            optimizer.zero_grad()
            loss = criterion(model(small[i : i + 32]), large[i : i + 32])
            total += loss.item()
            loss.backward()
            optimizer.step()
        numbers[f"loss {epoch}"] = total / 8
    with torch.no_grad():
        mse = criterion(model(small), large)
        bilinear = nn.functional.interpolate(
            small, scale_factor=2, mode="bicubic", align_corners=False
        )
        numbers["psnr"] = (10 * torch.log10(1 / mse)).item()
        numbers["psnr of bicubic"] = (10 * torch.log10(1 / criterion(bilinear, large))).item()
    return numbers
