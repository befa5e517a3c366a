"""Word lists of C that the scan and the lexer share (what the words mean is in grammar/)."""

from __future__ import annotations

BUILTIN_TYPES = frozenset(
    [
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "u_int8_t",
        "u_int16_t",
        "u_int32_t",
        "u_int64_t",
        "uint",
        "uchar",
        "ushort",
        "ulong",
        "clock_t",
        "time_t",
        "half",
        "half2",
        "__half",
        "__half2",
        "__half_raw",
        "nv_bfloat16",
        "__nv_bfloat16",
        "nv_bfloat162",
        "__nv_bfloat162",
        "__nv_fp8_e4m3",
        "__nv_fp8_e5m2",
        "dim3",
        "cudaTextureObject_t",
        "cudaSurfaceObject_t",
        "cudaStream_t",
        "cudaError_t",
        "cudaEvent_t",
        "curandState",
        "curandState_t",
        "curandStateXORWOW_t",
        "curandStatePhilox4_32_10_t",
        "curandStateMRG32k3a",
        "curandStateMRG32k3a_t",
        "cuFloatComplex",
        "cuDoubleComplex",
        "cuComplex",
        "__int128_t",
        "__int128",
        "__uint128_t",
        "__int64",
        "FILE",
        "int_fast8_t",
        "uint_fast8_t",
        "nullptr_t",
        "max_align_t",
        "va_list",
        "hip_bfloat16",
        "hipStream_t",
        "hipError_t",
        "hipEvent_t",
        "thread_block",
        "grid_group",
        "coalesced_group",
    ]
    + [
        a + b
        for a in [
            "char",
            "uchar",
            "short",
            "ushort",
            "int",
            "uint",
            "long",
            "ulong",
            "longlong",
            "ulonglong",
            "float",
            "double",
        ]
        for b in "1234"
    ]
)
DEVICE = frozenset(("__global__", "__device__", "__constant__", "__shared__", "__managed__"))
TYPE_WORDS = frozenset(
    ["void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "wchar_t", "auto"]
)
QUALIFIERS = frozenset(
    [
        "const",
        "volatile",
        "__restrict__",
        "static",
        "extern",
        "inline",
        "constexpr",
        "register",
        "mutable",
        "thread_local",
        "typedef",
        "virtual",
        "explicit",
        "friend",
        "__forceinline__",
        "__noinline__",
        "__global__",
        "__device__",
        "__host__",
        "__shared__",
        "__constant__",
        "__managed__",
        "__grid_constant__",
    ]
)
ATTRIBUTES = frozenset(("__launch_bounds__", "__align__", "__attribute__", "__cluster_dims__", "__maxnreg__"))
CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"))
CLASS_KEYS = frozenset(("struct", "class", "union", "enum"))
