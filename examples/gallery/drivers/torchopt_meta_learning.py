"""torchopt: functional optimizers, differentiable ones, and implicit gradients."""

NEEDS = ["torchopt==0.7.3", "optree==0.20.0", "graphviz==0.21", "typing_extensions==4.16.0"]
RTOL = 2e-3


def main():
    import functorch
    import torch
    import torchopt
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    x, y = torch.randn(20, 4), torch.randn(20, 1)
    model, parameters = functorch.make_functional(net)
    results = {}
    for name, make in (("adam", torchopt.adam), ("rmsprop", torchopt.rmsprop)):
        optimizer, held = make(lr=0.05), parameters
        state, losses = optimizer.init(held), []
        for _ in range(5):
            loss = nn.functional.mse_loss(model(held, x), y)
            gradients = torch.autograd.grad(loss, held)
            updates, state = optimizer.update(gradients, state, inplace=False)
            held = torchopt.apply_updates(held, updates, inplace=False)
            losses.append(loss.item())
        results[name] = losses
    inner = torchopt.MetaSGD(net, lr=0.1)
    scale = torch.tensor(1.0, requires_grad=True)
    start = torchopt.extract_state_dict(net)
    for _ in range(3):
        inner.step(nn.functional.mse_loss(net(x * scale), y))
    nn.functional.mse_loss(net(x), y).backward()
    results["through steps"] = scale.grad
    torchopt.recover_state_dict(net, start)

    @torchopt.diff.implicit.custom_root(
        lambda w, penalty, x, y: x.T @ (x @ w - y) + penalty * w, argnums=1
    )
    def ridge(w, penalty, x, y):
        return torch.linalg.solve(x.T @ x + penalty * torch.eye(4), x.T @ y).detach()

    penalty = torch.tensor(0.7, requires_grad=True)
    solution = ridge(torch.zeros(4, 1), penalty, x, y)
    solution.square().sum().backward()
    results["implicit"] = [solution.norm().item(), penalty.grad.item()]
    return results
