"""What a gradient scaler does on the CPU."""

import importlib
import pickle

import torch

amp = importlib.import_module(f"{torch.__name__}.amp")
nn = importlib.import_module(f"{torch.__name__}.nn")
optim = importlib.import_module(f"{torch.__name__}.optim")


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)


def _parts(**options):
    lin = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        lin.weight.fill_(0.5)
    return lin, optim.SGD(lin.parameters(), lr=0.1), amp.GradScaler("cpu", **options)


def a_scaled_step_is_the_step():
    lin, opt, scaler = _parts(init_scale=8.0, growth_interval=2)
    for _ in range(4):
        opt.zero_grad()
        loss = lin(torch.ones(1, 2)).sum()
        scaled = scaler.scale(loss)
        print(scaled.item(), scaler.get_scale(), scaler._get_growth_tracker())
        scaled.backward()
        print(lin.weight.grad, scaler.step(opt), lin.weight.grad)
        scaler.update()
        print(lin.weight.data)


def infinite_gradients_skip_the_step():
    lin, opt, scaler = _parts(init_scale=8.0)
    scaler.scale(lin(torch.tensor([[float("inf"), 1.0]])).sum()).backward()
    scaler.step(opt)
    scaler.update()
    print(lin.weight.data, scaler.get_scale(), scaler.state_dict())


def unscaling_comes_once():
    lin, opt, scaler = _parts()
    _told(lambda: scaler.unscale_(opt))
    _told(lambda: scaler.step(opt))
    _told(lambda: scaler.update())
    scaler.scale(lin(torch.ones(1, 2)).sum()).backward()
    _told(lambda: scaler.update())
    scaler.unscale_(opt)
    print(lin.weight.grad)
    _told(lambda: scaler.unscale_(opt))
    scaler.step(opt)
    _told(lambda: scaler.step(opt))
    _told(lambda: scaler.unscale_(opt))
    scaler.update()
    _told(lambda: scaler.step(opt, closure=lambda: 0))
    scaler.update(4.0)
    print(scaler.get_scale())
    scaler.update(torch.tensor(16.0))
    print(scaler.get_scale())
    _told(lambda: scaler.update(3))


def without_gradients_there_is_nothing_to_check():
    _, opt, scaler = _parts()
    scaler.scale(torch.ones(1))
    _told(lambda: scaler.step(opt))


def structures_are_scaled():
    scaler = amp.GradScaler("cpu", init_scale=2.0)
    print(scaler.scale([torch.ones(1), (torch.ones(2),)]))
    _told(lambda: scaler.scale(3))


def switched_off_it_does_nothing():
    lin, opt, scaler = _parts(enabled=False)
    loss = lin(torch.ones(1, 2)).sum()
    print(scaler.scale(loss) is loss, scaler.get_scale(), scaler.state_dict(), scaler.is_enabled())
    loss.backward()
    scaler.unscale_(opt)
    print(scaler.step(opt), scaler.update(), lin.weight.data)
    scaler.load_state_dict({})


def state_is_kept():
    lin, opt, scaler = _parts(init_scale=8.0, growth_interval=5)
    scaler.scale(lin(torch.ones(1, 2)).sum()).backward()
    scaler.step(opt)
    scaler.update()
    print(scaler.state_dict())
    other = amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    print(other.state_dict(), other.get_scale())
    _told(lambda: other.load_state_dict({}))
    print(pickle.loads(pickle.dumps(scaler)).state_dict())
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    print(scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval())


def arguments_are_checked():
    _told(lambda: amp.GradScaler("cpu", growth_factor=1.0))
    _told(lambda: amp.GradScaler("cpu", backoff_factor=1.0))
    _told(lambda: amp.GradScaler().is_enabled())


def an_adam_step_by_scaler():
    lin = nn.Linear(2, 1)
    opt = optim.Adam(lin.parameters(), lr=0.1)
    scaler = amp.GradScaler("cpu", init_scale=64.0)
    for _ in range(3):
        opt.zero_grad()
        with torch.autocast("cpu"):
            loss = lin(torch.ones(4, 2)).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(lin.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        print(lin.weight.data, scaler.get_scale())
