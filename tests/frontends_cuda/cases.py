"""Arguments and launches of the kernels in kernels/ (one file each, named like the kernel)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_random = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """Arguments by name, and the launch; ``call`` is how C++ spells the kernel, ``kernel`` its name."""

    arguments: dict[str, Any]
    grid: Any = 1
    block: Any = 1
    shared: int | None = None
    call: str = ""
    kernel: str = ""


def f(*shape):
    return _random.uniform(-1, 1, shape).astype(np.float32)


def p(*shape):
    return _random.uniform(0.1, 2, shape).astype(np.float32)


def d(*shape):
    return _random.uniform(-1, 1, shape)


def i32(low, high, *shape):
    return _random.integers(low, high, shape).astype(np.int32)


def u32(*shape):
    return _random.integers(0, 2**32, shape, dtype=np.uint64).astype(np.uint32)


def z(*shape):
    return np.zeros(shape, np.float32)


CASES = {
    "braces": Case({"x": f(13), "y": z(13), "n": 13}, 3, 5),
    "bytes": Case(
        {
            "u": _random.integers(0, 256, 21).astype(np.uint8),
            "s": _random.integers(-128, 128, 21).astype(np.int8),
            "h": _random.integers(0, 65536, 21).astype(np.uint16),
            "table": f(256),
            "out": z(21),
            "counts": np.zeros(256, np.uint32),
            "n": 21,
        },
        2,
        4,
    ),
    "packs": Case(
        {
            "x": f(24),
            "y": z(24),
            "u": _random.integers(0, 65536, 24).astype(np.uint16),
            "v": np.zeros(24, np.uint16),
            "w": np.zeros(3, np.uint32),
            "n": 24,
        },
        2,
        3,
    ),
    "nearest": Case({"a": f(13), "o": z(13), "n": 13}, 2, 8),
    "arms": Case({"a": f(8), "b": f(13), "c": f(9), "y": z(21), "n": 8, "m": 13}, 3, 8),
    "special": Case({"x": f(13), "y": z(13), "z": np.zeros(13, np.int32), "n": 13}, 2, 8),
    "vadd": Case({"a": f(13), "b": f(13), "c": z(13), "n": 13}, 2, 8),
    "saxpy": Case({"n": 10, "a": 1.5, "x": d(10), "y": d(10)}, 2, 8),
    "mm": Case({"A": f(15), "B": f(20), "C": f(12), "M": 3, "N": 4, "K": 5, "alpha": 2.0, "beta": 0.5}, (2, 1), (3, 3)),
    "mt": Case({"A": f(30), "B": f(42), "C": z(35), "M": 5, "N": 7, "K": 6}, (2, 2), (4, 4)),
    "stencil": Case(
        {"in": f(5 * 4 * 6), "out": z(5 * 4 * 6), "nx": 5, "ny": 4, "nz": 6, "c0": 6.0, "c1": 1.0}, (2, 1), (3, 4)
    ),
    "red": Case({"x": f(30), "partial": z(2), "n": 30}, 2, 8, shared=8),
    "nbody": Case({"pos": f(8, 4), "acc": z(8, 4), "n": 8}, 2, 4),
    "rowptr": Case({"a": f(21), "y": z(3), "n": 3, "m": 7}, 1, 4),
    "puzzle": Case(
        {"a": i32(-1000, 1000, 40), "u": u32(40), "o": np.zeros(40, np.int32), "v": np.zeros(40, np.uint32), "n": 40},
        5,
        8,
    ),
    "sideeff": Case({"a": i32(0, 9, 8), "o": np.zeros(8, np.int32), "n": 8}, 1, 2),
    "sw": Case({"a": i32(0, 11, 12), "o": np.zeros(12, np.int32), "n": 12}, 1, 16),
    "helper": Case({"A": f(20), "y": z(4), "n": 4, "m": 5}, 1, 8),
    "hist": Case({"d": _random.integers(0, 256, 100).astype(np.uint8), "h": np.zeros(16, np.int32), "n": 100}, 2, 16),
    "warp": Case({"in": f(300), "out": z(2), "n": 300}, 2, 64),
    "cas": Case({"s": d(1), "x": d(8), "n": 8}, 1, 8),
    "maxf": Case({"m": np.zeros(1, np.int32), "x": f(8), "n": 8}, 1, 8),
    "bs": Case({"call": z(9), "S": p(9), "X": p(9), "T": p(9), "r": 0.02, "v": 0.3, "n": 9}, 2, 8),
    "lit": Case({"x": f(6), "y": np.zeros(6), "w": z(6), "n": 6}, 1, 8),
    "hot": Case({"power": f(30), "src": f(30), "dst": z(30), "cols": 6, "rows": 5, "Rx": 0.1}, (2, 2), (4, 4)),
    "conv": Case({"im": f(30), "out": z(30), "w": 6, "h": 5}, (2, 2), (4, 4)),
    "vec": Case({"a": f(5, 2), "b": z(5, 2), "c": _random.integers(0, 256, (5, 4)).astype(np.uint8), "n": 5}, 1, 8),
    "tmpl": Case({"a": f(7), "b": z(7), "n": 7}, 2, 4, call="(tmpl<float,4>)"),
    "lcg": Case({"seeds": u32(5), "out": z(5), "n": 5}, 1, 8, kernel="lcgk"),
    "transpose": Case({"o": z(30), "in": f(30), "w": 6, "h": 5}, (2, 2), (4, 2)),
    "kmeans": Case({"pts": f(18), "cent": f(12), "label": np.zeros(6, np.int32), "n": 6, "k": 4, "d": 3}, 1, 8),
    "mand": Case({"out": np.zeros(30, np.int32), "w": 6, "h": 5, "maxit": 20}, (2, 2), (4, 4)),
    "scan": Case({"in": f(8), "out": z(8), "n": 8}, 1, 8, shared=16),
    "smallconst": Case({"o": np.zeros(6), "q": i32(0, 9, 6)}, 1, 6),
    "gather": Case({"idx": i32(-2, 12, 10), "x": f(10), "y": z(10), "n": 10}, 1, 4),
    "cgk": Case({"a": z(9), "b": f(9), "n": 9}, 2, 4, kernel="sumk"),
    "ops": Case({"p": f(5, 3), "q": f(5, 3), "o": z(5, 3), "e": z(5), "n": 5}, 1, 8),
    "f4cast": Case({"a": f(12), "b": z(12), "n4": 3}, 1, 4),
    "lam": Case({"x": f(6), "y": z(6), "n": 6}, 1, 8),
    "cls": Case({"p": f(15), "y": z(5), "n": 5}, 1, 8),
    "functor": Case({"x": f(6), "y": z(2), "n": 6}, 1, 4, call="(functor<Add>)"),
    "retloop": Case(
        {"a": np.array([1, 3, 4, 6, 7, 9], np.int32), "keys": i32(0, 10, 6), "o": np.zeros(6, np.int32), "n": 6}, 1, 8
    ),
    "dynsh": Case({"x": f(6), "y": z(6), "n": 6}, 1, 8, shared=16),
    "rawsh": Case({"x": f(6), "y": z(6), "n": 6}, 1, 6, shared=8, call="(rawsh<float>)"),
    "params": Case({"a": i32(0, 9, 8), "o": np.zeros(8, np.int32), "n": 8}, 1, 8),
    "lbm": Case({"f": p(120), "g": z(120), "tau": 0.8}, (2, 1), (3, 4)),
    "cg1": Case({"x": f(20), "y": z(32), "n": 20}, 1, 32),
    "mixed": Case({"o": z(12), "a": i32(-9, 9, 12), "x": f(12), "img": np.zeros(12, np.uint8), "w": 4, "h": 3}, 2, 8),
    "ternary": Case({"x": f(1), "y": z(1), "n": 1}, 1, 1),
    "aosloc": Case({"x": f(4), "y": z(4), "n": 4}, 1, 4),
    "swz": Case({"x": f(12), "y": z(4), "n": 4}, 1, 8),
    "bitonic": Case({"d": i32(0, 99, 16), "n": 16}, 1, 16, shared=16),
    "cexpr": Case({"x": f(9), "y": f(9), "n": 9}, 2, 4, call="(cexpr<true>)"),
    "seenas": Case({"o": z(28), "x": f(28), "w": f(28), "q": i32(-99, 99, 7), "n": 7, "use": 1}, 2, 4),
    "ptrwalk": Case({"C": z(16), "A": f(16), "B": f(16), "N": 4}, (2, 2), 4),
    "unsig": Case(
        {
            "a": u32(9),
            "b": i32(-(2**31), 2**31 - 1, 9),
            "o": np.zeros(9, np.uint32),
            "l": np.zeros(9, np.int64),
            "n": 9,
        },
        1,
        16,
    ),
    "goodold": Case({"a": f(5), "n": 5}, 1, 8),
    "commonh": Case({"im": f(20), "o": z(20), "w": 5, "h": 4, "s": 0.7}, (2, 2), (4, 4)),
    "collatz": Case({"a": i32(1, 99, 7), "o": np.zeros(7, np.int32), "n": 7}, 1, 8),
    "ownend": Case({"x": f(9), "y": z(9), "k": 40, "m": 3, "n": 9}, 3, 4),
    "known_arms": Case({"q": i32(-9, 9, 40), "d": d(40), "n": 40}, 2, 32),
}
