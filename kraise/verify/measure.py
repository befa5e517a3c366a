"""How far two arrays are apart: exact for integers, relative to the array's scale for floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from kraise.verify.report import Row

TOLERANCE = {2: 2e-2, 4: 2e-5, 8: 1e-9}  # by the bytes of a real number


def tolerance_of(dtype: np.dtype) -> float:
    """The tolerance for values of a dtype."""
    size = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return TOLERANCE.get(size, 1e-9) if dtype.kind in "fcV" else 0.0


def entries(name: str, bad: np.ndarray, keep: int = 4) -> str:
    """The places at which ``bad`` holds, in words."""
    places = np.argwhere(bad)
    shown = ", ".join(f"{name}[{', '.join(map(str, place))}]" if place.size else name for place in places[:keep])
    return shown + (f" and {len(places) - keep} more" if len(places) > keep else "")


def compare(check: str, name: str, got: Any, expected: Any, tolerance: float, scale: float = 0.0) -> Row:
    """One row: the largest difference over the scale (of ``expected``, at least ``scale``)."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape:
        return Row(check, name, "failed", message=f"the shape is {a.shape}, not {b.shape}")
    if b.dtype.kind in "biu":
        bad = a != b
        if bad.any():
            first = tuple(np.argwhere(bad)[0])
            message = f"{entries(name, bad)}: {a[first]} instead of {b[first]}"
            return Row(check, name, "failed", float(np.mean(bad)), 0.0, message)
        return Row(check, name, "ok", 0.0, 0.0)
    wide = np.complex128 if a.dtype.kind == "c" or b.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    with np.errstate(all="ignore"):
        odd = ~np.isfinite(b) | ~np.isfinite(a)
        unlike = odd & ~((np.isnan(a) & np.isnan(b)) | (a == b))
        if unlike.any():
            first = tuple(np.argwhere(unlike)[0])
            message = f"{entries(name, unlike)}: {a[first]} instead of {b[first]}"
            return Row(check, name, "failed", float("inf"), tolerance, message)
        difference = np.where(odd, 0, np.abs(a - b))
        size = max(float(np.max(np.where(odd, 0, np.abs(b)), initial=0.0)), scale, 1e-30)
        error = float(np.max(difference, initial=0.0)) / size
    if error <= tolerance:
        return Row(check, name, "ok", error, tolerance)
    worst = tuple(np.unravel_index(int(np.argmax(difference)), difference.shape)) if difference.ndim else ()
    place = f"{name}[{', '.join(map(str, worst))}]" if worst else name
    return Row(check, name, "failed", error, tolerance, f"{place}: {a[worst]:.9g} instead of {b[worst]:.9g}")
