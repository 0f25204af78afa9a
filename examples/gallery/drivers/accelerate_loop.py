"""accelerate: a training loop with accumulation and clipping through an Accelerator."""

NEEDS = ["accelerate==1.15.0", "psutil==7.2.2", "huggingface_hub==2.4.0"]


def main():
    import torch
    from accelerate import Accelerator
    from torch import nn

    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    data = torch.utils.data.TensorDataset(torch.randn(96, 10), torch.randint(0, 3, (96,)))
    loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
    net, optimizer, loader, schedule = accelerator.prepare(net, optimizer, loader, schedule)
    losses = []
    for _ in range(3):
        for x, y in loader:
            with accelerator.accumulate(net):
                loss = nn.functional.cross_entropy(net(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).mean())
    state = accelerator.unwrap_model(net).state_dict()
    return {"losses": losses, "state": [value.norm() for value in state.values()]}
