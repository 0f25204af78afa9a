"""Where memory lies, as DLPack counts it."""

from __future__ import annotations

import enum


class DLDeviceType(enum.IntEnum):
    """Where memory lies, as DLPack counts it."""

    __module__ = "rushlight.utils.dlpack"

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
