"""What programs are told of devices that aren't here, and of the libraries behind PyTorch."""

import importlib

import torch

_T = torch.__name__
nn = importlib.import_module(f"{_T}.nn")


def _module(name):
    return importlib.import_module(f"{_T}.{name}")


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)


def _calls(module, names):
    for name in names.split():
        print(name, end=" ")
        _told(getattr(module, name))


def cuda_is_not_available():
    cuda = _module("cuda")
    _calls(
        cuda,
        "is_available device_count is_initialized is_bf16_supported memory_allocated "
        "max_memory_allocated memory_reserved get_arch_list seed_all current_device synchronize "
        "get_device_name get_device_properties get_device_capability empty_cache mem_get_info "
        "current_stream default_stream get_rng_state get_rng_state_all ipc_collect init "
        "reset_peak_memory_stats memory_stats Event CUDAGraph Stream is_current_stream_capturing",
    )
    _told(lambda: cuda.manual_seed(0))
    _told(lambda: cuda.manual_seed_all(0))
    _told(lambda: cuda.set_device(0))
    _told(lambda: cuda.FloatTensor(2))
    _told(lambda: isinstance(torch.ones(1), cuda.FloatTensor))
    _told(lambda: cuda.device(0).__enter__())
    _told(lambda: cuda.device(-1).__enter__())
    _told(lambda: issubclass(cuda.OutOfMemoryError, RuntimeError))
    _told(lambda: cuda.OutOfMemoryError is torch.OutOfMemoryError)


def nvtx_is_not_there():
    nvtx = _module("cuda.nvtx")
    _told(lambda: nvtx.range_push("a"))
    _told(lambda: nvtx.range_pop())
    _told(lambda: nvtx.mark("a"))
    _told(lambda: nvtx.range("a").__enter__())


def other_devices_are_not_there():
    mps = "is_available device_count empty_cache synchronize seed"
    _calls(_module("mps"), mps + " current_allocated_memory Event")
    _calls(_module("xpu"), "is_available device_count current_device init Event memory_allocated")
    _calls(_module("mtia"), "is_available device_count current_device init empty_cache")
    names = "is_available device_count current_accelerator current_device_index synchronize"
    _calls(_module("accelerator"), names)


def the_cpu_is_a_device_too():
    cpu = _module("cpu")
    _calls(cpu, "is_available is_initialized device_count current_device synchronize")
    with cpu.stream(cpu.Stream()) as s:
        print(s)
    _told(lambda: torch.get_device_module().__name__.rpartition(".")[2])
    _told(lambda: torch.get_device_module("cuda").__name__.rpartition(".")[2])
    _told(lambda: torch.get_device_module("meta"))
    _told(lambda: torch.get_device_module("nothing"))


def backends_say_what_there_is():
    backends = _module("backends")
    for name in ("cudnn", "mkl", "mkldnn", "openmp", "mps", "opt_einsum", "cusparselt", "nnpack"):
        print(name, _module(f"backends.{name}").is_available())
    print(backends.cuda.is_built(), backends.mps.is_built(), backends.cudnn.version())
    print(backends.cudnn.is_acceptable(torch.ones(1)), backends.flags_frozen())
    print(backends.quantized.engine, backends.quantized.supported_engines)


def switches_of_backends_are_remembered():
    cudnn = _module("backends.cudnn")
    cuda = _module("backends.cuda")
    print(cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32)
    cudnn.benchmark = True
    cudnn.deterministic = True
    print(cudnn.benchmark, cudnn.deterministic)
    with cudnn.flags(enabled=False, benchmark=False):
        print(cudnn.enabled, cudnn.benchmark)
    print(cudnn.enabled, cudnn.benchmark)
    _told(lambda: setattr(cudnn, "benchmark", 3))
    print(cuda.matmul.allow_tf32, cuda.matmul.fp32_precision)
    cuda.matmul.allow_tf32 = True
    print(cuda.matmul.allow_tf32)
    _told(lambda: cuda.matmul.nothing)
    _told(lambda: setattr(cuda.matmul, "nothing", 1))
    _told(lambda: cuda.cufft_plan_cache.size)
    quantized = _module("backends.quantized")
    _told(lambda: setattr(quantized, "engine", "nothing"))
    backends = _module("backends")
    _told(lambda: setattr(backends, "fp32_precision", "nothing"))


def kernels_of_attention_can_be_chosen():
    attention = _module("nn.attention")
    cuda = _module("backends.cuda")
    print(list(attention.SDPBackend.__members__), attention.SDPBackend.MATH)
    q = torch.randn(1, 2, 3, 4)
    f = nn.functional.scaled_dot_product_attention
    with attention.sdpa_kernel(attention.SDPBackend.MATH):
        print(cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled())
        print(f(q, q, q).shape)
    with attention.sdpa_kernel([attention.SDPBackend.MATH, attention.SDPBackend.FLASH_ATTENTION]):
        print(cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled())
    _told(lambda: attention.sdpa_kernel("math").__enter__())


def tensors_stay_on_the_cpu():
    _told(lambda: torch.ones(1, device="cuda"))
    _told(lambda: torch.ones(1).cuda())
    _told(lambda: torch.ones(1).to("cuda:0"))
    _told(lambda: nn.Linear(1, 1).cuda())
    _told(lambda: torch.ones(1).is_pinned())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(device, torch.ones(1, device=device).device, nn.Linear(1, 1).to(device).weight.device)
