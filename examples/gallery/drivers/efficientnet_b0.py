"""efficientnet-pytorch: B0 forward and backward on small pictures."""

NEEDS = ["efficientnet_pytorch==0.7.1"]
RTOL = 5e-3


def main():
    import torch
    from efficientnet_pytorch import EfficientNet

    torch.manual_seed(0)
    net = EfficientNet.from_name("efficientnet-b0", num_classes=5, image_size=64)
    net.set_swish(memory_efficient=True)
    x, y = torch.randn(2, 3, 64, 64), torch.tensor([1, 3])
    net.eval()
    features = net.extract_features(x)
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    gradients = [p.grad.norm() for p in net.parameters() if p.grad is not None]
    return {"features": features, "loss": loss, "gradients": gradients[::20]}
