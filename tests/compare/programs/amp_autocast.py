"""What autocast on the CPU does: element types, switches, nesting, kept casts, custom functions."""

import importlib
from pathlib import Path

import torch

amp = importlib.import_module(f"{torch.__name__}.amp")
nn = importlib.import_module(f"{torch.__name__}.nn")
F = importlib.import_module(f"{torch.__name__}.nn.functional")
ckpt = importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)


def the_switches_have_their_names():
    for kind in ("cpu", "cuda", "mps", "xpu", "hpu"):
        print(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind))
    print(torch.is_autocast_enabled(), torch.is_autocast_cache_enabled())
    _told(lambda: torch.is_autocast_cpu_enabled())
    _told(lambda: torch.get_autocast_gpu_dtype())
    _told(lambda: torch.get_autocast_dtype("nothing"))
    _told(lambda: amp.is_autocast_available("cpu"))
    _told(lambda: amp.is_autocast_available("meta"))
    print(torch.autocast_increment_nesting(), torch.autocast_decrement_nesting())


def a_context_says_when_it_can_not_work():
    _told(lambda: torch.autocast("cuda")._enabled)
    _told(lambda: torch.autocast("cpu", torch.float32)._enabled)
    _told(lambda: torch.autocast(3))
    _told(lambda: torch.autocast("nothing"))
    _told(lambda: torch.autocast())


def products_are_computed_in_the_lower_type():
    a, b = torch.randn(2, 3), torch.randn(3, 2)
    for low in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", low):
            print((a @ b).dtype, torch.mm(a, b).dtype, F.linear(a, b.t()).dtype)
            print(torch.mv(a, b[:, 0]).dtype, (a @ b[:, 0]).dtype, torch.dot(a[0], a[1]).dtype)
            print(F.conv1d(a[None], torch.ones(1, 2, 2)).dtype, (a + a).dtype)
            print(torch.mm(a.double(), b.double()).dtype, torch.einsum("ij,jk->ik", a, b).dtype)


def losses_are_computed_in_single_precision():
    a, b = torch.rand(2, 3).bfloat16(), torch.rand(2, 3).bfloat16()
    t = torch.tensor([0, 1])
    with torch.autocast("cpu"):
        print(F.mse_loss(a, b).dtype, F.l1_loss(a, b).dtype, F.cross_entropy(a, t).dtype)
        print(F.nll_loss(a, t).dtype, F.kl_div(a, b, reduction="sum").dtype)
        print(F.binary_cross_entropy_with_logits(a, b).dtype, F.smooth_l1_loss(a, b).dtype)
        print(torch.cdist(a, b).dtype, a.prod().dtype, a.sum().dtype, a.softmax(1).dtype)
        print(torch.fft.rfft(torch.rand(8).bfloat16()).dtype, torch.quantile(a, 0.5).dtype)
        print(torch.cat([a, b.float()]).dtype, torch.stack([a, b]).dtype)


def gradients_get_the_type_of_the_weight():
    m = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    x = torch.randn(5, 3)
    with torch.autocast("cpu"):
        y = m(x)
        loss = F.mse_loss(y, torch.zeros(5, 2))
    print(y.dtype, loss.dtype)
    loss.backward()
    for p in m.parameters():
        print(p.grad.dtype, round(p.grad.float().abs().sum().item(), 2))


def nested_contexts_can_switch_off():
    a = torch.randn(2, 2)
    with torch.autocast("cpu"):
        print((a @ a).dtype)
        with torch.autocast("cpu", enabled=False):
            print((a @ a).dtype, torch.is_autocast_enabled("cpu"))
        with torch.autocast("cpu", torch.float16):
            print((a @ a).dtype, torch.get_autocast_dtype("cpu"))
        print((a @ a).dtype, torch.get_autocast_dtype("cpu"))
    print((a @ a).dtype)


def a_weight_is_converted_once():
    w = torch.randn(2, 2, requires_grad=True)
    for keep in (True, False):
        with torch.autocast("cpu", cache_enabled=keep):
            y, z = w @ w, w @ w
            first, second = y.grad_fn.next_functions[0][0], z.grad_fn.next_functions[0][0]
            print(first.name(), first is second)
        with torch.autocast("cpu", cache_enabled=keep):
            print((w @ w).grad_fn.next_functions[0][0] is first)


def a_decorated_function_runs_inside():
    @torch.autocast("cpu")
    def f(a):
        return a @ a

    print(f(torch.ones(2, 2)).dtype, f.__name__, torch.is_autocast_enabled("cpu"))

    @torch.autocast(device_type="cpu", dtype=torch.float16)
    class _M(nn.Linear):
        pass


def checkpoints_run_again_as_they_first_did():
    lin = nn.Linear(3, 3)
    for reentrant in (True, False):
        x = torch.randn(2, 3, requires_grad=True)
        with torch.autocast("cpu"):
            y = ckpt.checkpoint(lin, x, use_reentrant=reentrant)
        y.float().sum().backward()
        print(y.dtype, x.grad.dtype, x.grad)


def custom_functions_remember_autocast():
    class Double(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            print("forward", x.dtype, torch.is_autocast_enabled("cpu"))
            return x * 2

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            print("backward", g.dtype, torch.is_autocast_enabled("cpu"))
            return g * 2

    class Product(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            print("forward", x.dtype, torch.is_autocast_enabled("cpu"))
            return x @ x

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            print("backward", g.dtype, torch.is_autocast_enabled("cpu"))
            return g @ x.t() + x.t() @ g

    for cls in (Double, Product):
        x = torch.randn(2, 2, dtype=torch.bfloat16, requires_grad=True)
        with torch.autocast("cpu"):
            y = cls.apply(x)
        y.sum().backward()
        print(y.dtype, x.grad.dtype)
    _told(lambda: amp.custom_fwd(lambda x: x))
    _told(lambda: amp.custom_fwd(lambda x: x, device_type=3))


def deprecated_names_warn():
    cuda_amp = importlib.import_module(f"{torch.__name__}.cuda.amp")
    cpu_amp = importlib.import_module(f"{torch.__name__}.cpu.amp")
    _told(lambda: cuda_amp.autocast()._enabled)
    _told(lambda: cpu_amp.autocast()._enabled)
    _told(lambda: cuda_amp.GradScaler().is_enabled())
    _told(lambda: cpu_amp.GradScaler().is_enabled())
    _told(lambda: cuda_amp.custom_fwd(lambda x: x) is not None)


def _processor():
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""


def recurrent_layers_run():
    cells = [nn.RNN, nn.GRU]
    if "avx512" in _processor():  # without it PyTorch has no LSTM in bfloat16, and raises
        cells.append(nn.LSTM)
    for cell in cells:
        m, x = cell(3, 4), torch.randn(5, 2, 3)
        with torch.autocast("cpu"):
            out = m(x)[0]
        out.float().sum().backward()
        print(cell.__name__, out.dtype, [p.grad.dtype for p in m.parameters()])


def _in(dtype, function, *args, **kwargs):
    with torch.autocast("cpu", dtype):
        try:
            return function(*args, **kwargs).dtype
        except RuntimeError as error:
            return str(error)


def products_of_vectors():
    a, m = torch.ones(3), torch.ones(3, 3)
    functions = (torch.dot, torch.inner, torch.vdot, torch.matmul, torch.linalg.vecdot,
                 torch.Tensor.dot, torch.Tensor.inner, torch.Tensor.matmul)  # fmt: skip
    pairs = ((a, a), (a.half(), a.half()), (a.bfloat16(), a), (a.double(), a.double()))
    for dtype in (torch.bfloat16, torch.float16):
        for function in functions:
            print(function.__name__, [_in(dtype, function, x, y) for x, y in pairs])
        print([_in(dtype, f, m, a) for f in (torch.mv, torch.Tensor.mv, torch.matmul, torch.inner)])
        print([_in(dtype, torch.tensordot, x, y, 1) for x, y in (*pairs, (m, m))])
        print([_in(dtype, torch.einsum, "i,i", x, y) for x, y in pairs])
        for f in (torch.dot, torch.inner, torch.mv, torch.matmul):
            args = (m, m) if f is torch.mv else (m, a)
            print(_in(dtype, torch.vmap(f, in_dims=(0, 0)), m, m), _in(dtype, f, *args))


def what_writes_into_out_is_not_converted():
    a, m = torch.ones(3), torch.ones(3, 3)
    for f in (torch.mm, torch.matmul, torch.inner, torch.mv, torch.dot, torch.bmm):
        for x, y in ((m, m), (m, a), (a, a), (m[None], m[None])):
            if f is torch.bmm and x.ndim < 3:
                continue
            print(_in(torch.bfloat16, f, x, y, out=torch.zeros(0)))
    print(_in(torch.bfloat16, torch.linalg.multi_dot, [m, m], out=torch.zeros(3, 3)))
    print(_in(torch.bfloat16, torch.linalg.vecdot, m, m, out=torch.zeros(3)))
    for dtype in (torch.float64, torch.int64):
        for f, x, y in ((torch.mv, m, a), (torch.inner, m, a), (torch.inner, a, a[0])):
            try:
                print(f(x, y, out=torch.zeros(3, dtype=dtype)))
            except RuntimeError as error:
                print(error)


def modes_meet():
    a = torch.randn(2, 2, requires_grad=True)
    with torch.autocast("cpu"), torch.no_grad():
        print((a @ a).dtype, (a @ a).requires_grad)
    with torch.no_grad(), torch.autocast("cpu"):
        print((a @ a).requires_grad)
    with torch.inference_mode(), torch.autocast("cpu"):
        print((a @ a).dtype, (a @ a).is_inference())
    with torch.autocast("cpu"):
        print(torch.func.vmap(lambda x: x @ x)(torch.randn(3, 2, 2)).dtype)
        print(torch.func.grad(lambda x: (x @ x).sum().float())(a.detach()).dtype)
