"""`torch._inductor.config`: settings that programs make; they are kept and change nothing."""

from __future__ import annotations

from types import SimpleNamespace

from .._dynamo._settings import patching as _patching

debug = False
verbose_progress = False
fx_graph_cache = True
fx_graph_remote_cache = None
autotune_local_cache = True
max_autotune = False
max_autotune_gemm = False
max_autotune_pointwise = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
coordinate_descent_tuning = False
coordinate_descent_check_all_directions = False
epilogue_fusion = True
aggressive_fusion = False
shape_padding = True
permute_fusion = False
pattern_matcher = True
split_reductions = True
size_asserts = True
nan_asserts = False
dce = False
fallback_random = False
implicit_fallbacks = True
allow_buffer_reuse = True
force_fuse_int_mm_with_mul = False
use_mixed_mm = True
freezing = False
memory_planning = False
reorder_for_locality = True
reorder_for_compute_comm_overlap = False
triton_kernel_default_layout_constraint = "needs_fixed_stride_order"
cpp_wrapper = False
compile_threads = 1
worker_start_method = "subprocess"
benchmark_kernel = False
profile_bandwidth = False
emulate_precision_casts = False
cpu_backend = "cpp"
cuda_backend = "triton"
triton = SimpleNamespace(
    cudagraphs=False, cudagraph_trees=True, unique_kernel_names=True, multi_kernel=0,
    cudagraph_skip_dynamic_graphs=False, persistent_reductions=True, prefer_nd_tiling=False,
    autotune_pointwise=True, autotune_at_compile_time=None,
)  # fmt: skip
cpp = SimpleNamespace(
    threads=-1, simdlen=None, min_chunk_size=512, enable_kernel_profile=False, weight_prepack=True,
    descriptive_names="original_aten", enable_floating_point_contract_flag="off",
)  # fmt: skip
cuda = SimpleNamespace(arch=None, version=None, enable_cuda_lto=False, use_fast_math=False)
rocm = SimpleNamespace(arch=[])
aot_inductor = SimpleNamespace(output_path="", debug_compile=False)
trace = SimpleNamespace(enabled=False, debug_dir=None, graph_diagram=False)

patch = _patching(globals())
