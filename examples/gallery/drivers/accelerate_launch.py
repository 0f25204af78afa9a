"""accelerate: a loop started by `accelerate launch` in two processes; gathered and reduced."""

NEEDS = [
    "accelerate==1.15.0", "psutil==7.2.2", "huggingface_hub==2.4.0", "safetensors==0.8.0",
    "mpi4py", "mpich",
]  # fmt: skip
RANKS = 2
LAUNCHER = "accelerate"


def main():
    import torch
    from accelerate import Accelerator
    from torch import nn

    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    data = torch.utils.data.TensorDataset(torch.randn(96, 10), torch.randint(0, 3, (96,)))
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    losses, right = [], []
    for _ in range(3):
        for x, y in loader:
            with accelerator.accumulate(net):
                loss = nn.functional.cross_entropy(net(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses.append(accelerator.reduce(loss.detach(), "mean"))
        scores, labels = accelerator.gather_for_metrics((net(x).detach(), y))
        right.append((scores.argmax(1) == labels).float().mean())
    state = accelerator.unwrap_model(net).state_dict()
    return {
        "ranks": accelerator.num_processes, "losses": losses, "right": right,
        "state": [value.norm() for value in state.values()],
    }  # fmt: skip
