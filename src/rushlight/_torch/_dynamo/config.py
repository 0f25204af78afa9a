"""`torch._dynamo.config`: settings that programs make; they are kept and change nothing."""

from __future__ import annotations

from typing import Any

from ._settings import patching as _patching

suppress_errors = False
verbose = False
cache_size_limit = 8
recompile_limit = 8
accumulated_cache_size_limit = 256
accumulated_recompile_limit = 256
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
guard_nn_modules = True
inline_inbuilt_nn_modules = True
optimize_ddp: Any = True
compiled_autograd = False
error_on_recompile = False
disable = False
specialize_int = False
allow_unspec_int_on_nn_module = False
force_parameter_static_shapes = True
numpy_default_float = "float64"
log_level = 30

patch = _patching(globals())
