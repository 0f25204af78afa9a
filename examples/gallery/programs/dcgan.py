"""DCGAN on 8x8 digits: transposed convolutions, batch norm, two optimizers."""

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

NEEDS = ("scikit-learn",)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        torch.nn.init.normal_(m.weight, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        torch.nn.init.normal_(m.weight, 1.0, 0.02)
        torch.nn.init.zeros_(m.bias)


def main():
    torch.manual_seed(99)
    data = torch.tensor(load_digits().images[:320] / 8 - 1, dtype=torch.float32).unsqueeze(1)
    netG = nn.Sequential(
        nn.ConvTranspose2d(16, 32, 2, 1, 0, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(True),
        nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(True),
        nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False),
        nn.Tanh(),
    )
    netD = nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(16, 32, 4, 2, 1, bias=False),
        nn.BatchNorm2d(32),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(32, 1, 2, 1, 0, bias=False),
        nn.Sigmoid(),
        nn.Flatten(0),
    )
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion = nn.BCELoss()
    optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    fixed_noise = torch.randn(8, 16, 1, 1)
    for real in data.split(32):
        netD.zero_grad()
        label = torch.full((len(real),), 1.0)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(torch.randn(len(real), 16, 1, 1))
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
    with torch.no_grad():
        images = netG(fixed_noise)
    return {
        "Loss_D": errD.item(),
        "Loss_G": errG.item(),
        "D(x)": D_x,
        "std of images": images.std().item(),
        "running mean": netD[3].running_mean.norm().item(),
    }
