"""lightly and byol-pytorch: losses and heads of learning without labels."""

NEEDS = [
    "lightly==1.6.0",
    "byol-pytorch==0.9.1",
    "torchvision==0.28.0",
    "lightly-utils==0.0.2",
    "pydantic==2.14.3",
    "requests==2.34.2",
    "pytz==2026.6",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "urllib3==2.7.0",
    "pytorch-lightning==2.6.6",
    "lightning-utilities==0.15.3",
    "torchmetrics==1.9.0",
    "einops==0.8.2",
    "beartype==0.23.1",
    "annotated-types==0.8.0",
    "pydantic-core==2.50.4",
    "typing-inspection==0.4.5",
    "pillow==13.0.0",
    "accelerate==1.15.0",
    "psutil==7.2.2",
    "huggingface_hub==2.4.0",
    "charset_normalizer==3.4.7",
]
RTOL = 2e-3


def main():
    import torch
    from byol_pytorch import BYOL
    from lightly.loss import BarlowTwinsLoss, NegativeCosineSimilarity, NTXentLoss, VICRegLoss
    from lightly.models.modules import SimCLRProjectionHead, SimSiamPredictionHead
    from torch import nn

    torch.manual_seed(0)
    left, right = torch.randn(8, 16), torch.randn(8, 16)
    head, guess = SimCLRProjectionHead(16, 16, 8), SimSiamPredictionHead(8, 4, 8)
    results = {}
    for criterion in (NTXentLoss(), BarlowTwinsLoss(), VICRegLoss(), NegativeCosineSimilarity()):
        loss = criterion(guess(head(left)), head(right))
        parameters = [*head.parameters(), *guess.parameters()]
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        results[type(criterion).__name__] = [loss, *(g.norm() for g in gradients if g is not None)]
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )
    learner = BYOL(
        net, 16, hidden_layer=-1, projection_size=8, projection_hidden_size=16,
        augment_fn=nn.Identity(), augment_fn2=nn.Identity(),
    )  # fmt: skip
    optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        loss = learner(torch.randn(4, 3, 16, 16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        learner.update_moving_average()
        losses.append(loss.item())
    results["byol"] = losses
    return results
