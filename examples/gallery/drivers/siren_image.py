"""siren-pytorch: a sine network fitted to a picture through its wrapper."""

NEEDS = ["siren-pytorch==0.1.7", "einops==0.8.2"]
RTOL = 1e-3


def main():
    import torch
    from siren_pytorch import SirenNet, SirenWrapper
    from torch import nn

    torch.manual_seed(0)
    net = SirenNet(
        dim_in=2,
        dim_hidden=64,
        dim_out=3,
        num_layers=3,
        final_activation=nn.Sigmoid(),
        w0_initial=30.0,
    )
    wrapper = SirenWrapper(net, image_width=32, image_height=32)
    rows, columns = torch.meshgrid(
        torch.linspace(0, 1, 32), torch.linspace(0, 1, 32), indexing="ij"
    )
    picture = torch.stack([rows, columns, torch.sin(9 * rows) * 0.5 + 0.5])[None]
    optimizer = torch.optim.Adam(wrapper.parameters(), lr=1e-3)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = wrapper(picture)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "picture": wrapper()}
