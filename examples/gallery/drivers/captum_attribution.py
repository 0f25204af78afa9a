"""captum: attributions of a classifier's answer by gradients and by perturbation."""

NEEDS = ["captum==0.9.0", "packaging==26.3", "tqdm==4.70.1"]
RTOL = 1e-3


def main():
    import torch
    from captum.attr import (
        DeepLift,
        FeatureAblation,
        GradientShap,
        IntegratedGradients,
        LayerConductance,
        Occlusion,
        Saliency,
    )
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3), nn.Softmax(dim=1))
    x, zero = torch.randn(3, 6), torch.zeros(3, 6)
    conductance = LayerConductance(net, net[1])
    return {
        "integrated": IntegratedGradients(net).attribute(x, zero, target=1),
        "saliency": Saliency(net).attribute(x, target=0),
        "deeplift": DeepLift(net).attribute(x, zero, target=2),
        "ablation": FeatureAblation(net).attribute(x, target=1),
        "occlusion": Occlusion(net).attribute(x, sliding_window_shapes=(2,), target=1),
        "shap": GradientShap(net)
        .attribute(x, zero, target=1, n_samples=1, stdevs=0.0)
        .isfinite()
        .all(),
        "conductance": conductance.attribute(x, target=1),
    }
