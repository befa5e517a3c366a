"""The kernels as the C++ compiler understands them: the oracle of the front end.

All kernels go into one shared library, each in its own namespace; the threads of a block take turns,
so that barriers and shuffles hold (cuda_shim.h).
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from kraise import verify
from kraise.ir.kernel import Function
from kraise.ir.types import ArrayType

SHIM = Path(verify.__file__).parent  # cuda_shim.h is shipped: `kraise verify --original` uses it
COMPILER = shutil.which("g++") or shutil.which("clang++")
_C = {
    "int8": ("signed char", ctypes.c_byte),
    "uint8": ("unsigned char", ctypes.c_ubyte),
    "int16": ("short", ctypes.c_short),
    "uint16": ("unsigned short", ctypes.c_ushort),
    "int32": ("int", ctypes.c_int),
    "uint32": ("unsigned", ctypes.c_uint),
    "int64": ("long long", ctypes.c_longlong),
    "uint64": ("unsigned long long", ctypes.c_ulonglong),
    "float32": ("float", ctypes.c_float),
    "float64": ("double", ctypes.c_double),
    "bool": ("bool", ctypes.c_bool),
}


def library(kernels: dict[str, tuple[str, Function, str]], folder: Path) -> ctypes.CDLL:
    """Compile name -> (source, its Kernel IR function, how C++ spells the kernel); one entry ``go_NAME`` each."""
    parts = ['#include "cuda_shim.h"']
    for name, (source, function, call) in kernels.items():
        text = re.sub(
            r"extern __shared__ (?:__align__\(sizeof\(T\)\) )?((?:\w+ )+)(\w+)\[\];", r"static \1\2[4096];", source
        )
        text = text.replace("static __shared__", "__shared__")
        text = re.sub(r"^(?:#include|namespace cg|extern __shared__).*$", "", text, flags=re.M)
        text = re.sub(r"^void run\(.*?^}", "", text, flags=re.M | re.S)
        parameters, arguments = [], []
        for k, p in enumerate(function.params):
            c = "void *" if isinstance(p.type, ArrayType) else _C[str(p.type)][0]
            parameters.append(f"{c} {p.name}")
            arguments.append(f"(decltype(argument_<{k}>({call})))({p.name})")
        geometry = ", ".join(f"int {x}" for x in ("gx", "gy", "gz", "bx", "by", "bz"))
        parts.append(f"namespace case_{name} {{\n{text}")
        parts.append(f'extern "C" void go_{name}({", ".join(parameters)}, {geometry}) {{')
        parts.append("  const int geometry[6] = {gx, gy, gz, bx, by, bz};")
        parts.append(f"  launch_([&] {{ {call}({', '.join(arguments)}); }}, geometry, true);\n}}\n}}")
        parts += [f"#undef {m}" for m in sorted(set(re.findall(r"^#define (\w+)", text, flags=re.M)))]
    path = folder / "original.cpp"
    path.write_text("\n".join(parts))
    out = folder / "original.so"
    flags = ["-std=c++20", "-O0", "-w", "-fpermissive", "-fPIC", "-shared", "-ffp-contract=off"]
    done = subprocess.run(
        [str(COMPILER), *flags, f"-I{SHIM}", "-o", str(out), str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(out))


def run(
    lib: ctypes.CDLL, name: str, function: Function, arguments: dict[str, Any], grid: Any, block: Any
) -> dict[str, Any]:
    """The arrays after the compiled kernel ran on copies of the arguments."""
    values = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    passed: list[Any] = []
    for p in function.params:
        v = values[p.name]
        passed.append(ctypes.c_void_p(v.ctypes.data) if isinstance(p.type, ArrayType) else _C[str(p.type)][1](v))
    getattr(lib, f"go_{name}")(*passed, *triple(grid), *triple(block))
    return {n: v for n, v in values.items() if isinstance(v, np.ndarray)}


def triple(x: Any) -> tuple[int, int, int]:
    """A launch extent with three axes."""
    x = (x,) if isinstance(x, int) else tuple(x)
    return (*x, *(1,) * (3 - len(x)))
