"""tab-transformer-pytorch: attention over the columns of a table."""

NEEDS = [
    "tab-transformer-pytorch==0.6.1",
    "einops==0.8.2",
    "hyper-connections==0.4.11",
    "torch-einops-utils==0.2.0",
    "x-mlps-pytorch==0.6.9",
    "discrete-continuous-embed-readout==0.2.12",
    "jaxtyping==0.3.11",
    "wadler_lindig==0.1.8",
    "beartype==0.23.1",
    "einx==0.4.3",
    "frozendict==2.5.1",
    "sympy==1.14.0",
    "mpmath==1.3.0",
    "loguru==0.7.3",
    "typing_extensions==4.16.0",
]
RTOL = 2e-3


def main():
    import torch
    from tab_transformer_pytorch import FTTransformer, TabTransformer

    torch.manual_seed(0)
    classes, numbers = torch.randint(0, 5, (8, 3)), torch.randn(8, 4)
    target = torch.randn(8, 1)
    shared = {"categories": (5, 6, 7), "num_continuous": 4, "dim": 16, "dim_out": 1}
    shared |= {"depth": 2, "heads": 2, "attn_dropout": 0.0, "ff_dropout": 0.0}
    results = {}
    for kind, more in ((TabTransformer, {"mlp_act": torch.nn.ReLU()}), (FTTransformer, {})):
        net = kind(**shared, **more)
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(classes, numbers), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[kind.__name__] = losses
    return results
