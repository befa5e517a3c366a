"""Peak memory and time of long loops and large broadcasts, value and gradient, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from kraise import pipeline
from kraise.options import Options
from tests.bench.timing import row

STENCIL = '''
def cool(u, v, rate, steps):
    """A plate that conducts and radiates."""
    ny, nx = u.shape
    for t in range(steps):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                v[y, x] = u[y, x] + rate * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4.0 * u[y, x]) \\
                    - 0.01 * u[y, x] ** 4
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                u[y, x] = v[y, x]
'''
PAIRS = '''
def pull(pos, mass, force, n):
    """Softened forces of all bodies on each."""
    for i in range(n):
        fx = 0.0
        fy = 0.0
        fz = 0.0
        for j in range(n):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            w = mass[j] / (r2 * r2 ** 0.5)
            fx += w * dx
            fy += w * dy
            fz += w * dz
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz
'''
STEPS, SIDE, BODIES = 200, 1000, 20_000
# the arguments of a run, the function of its active argument, and what is differentiated
CALLS = {
    "cool": ("jnp.ones(({size}, {size}))", "lambda a: m.cool(a, a, 0.1, {steps})[0]"),
    "pull": (
        "jax.random.uniform(jax.random.key(0), ({size}, 3))",
        "lambda a: m.pull(a, jnp.ones({size}), jnp.zeros(({size}, 3)), {size})",
    ),
}
SCRIPT = """
import importlib.util, resource, sys, time
import jax, jax.numpy as jnp
spec = importlib.util.spec_from_file_location("m", {file!r})
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
a, f = {argument}, {function}
g = jax.jit(f if {primal} else jax.grad(lambda a: jnp.sum(f(a) ** 2))).lower(a).compile()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
jax.block_until_ready(g(a))
seconds = time.perf_counter() - start
print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def measured(source: str, name: str, size: int, primal: bool, **options: str) -> tuple[float, float]:
    """Seconds, and the MB by which the process grew, of one run in a fresh process."""
    done = pipeline.translate(source, f"{name}.py", Options(**options))  # type: ignore[arg-type]
    argument, function = (text.format(size=size, steps=STEPS) for text in CALLS[name])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.py")
        file.write_text(done.text or "")
        script = SCRIPT.format(file=str(file), argument=argument, function=function, primal=primal)
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, grown = map(float, ran.stdout.split())
    return seconds, grown


def main() -> None:
    """One row a run: how the process grew, and the time."""
    runs = [(STENCIL, "cool", SIDE, {"remat": r}, f"{STEPS} steps of {SIDE} x {SIDE}, --remat {r}") for r in RULES]
    chunks = {"max_intermediate": "256MB"}
    runs += [(PAIRS, "pull", BODIES, chunks, f"{BODIES} bodies, --max-intermediate 256MB")]
    for source, name, size, options, label in runs:
        for primal in (True, False):
            seconds, grown = measured(source, name, size, primal, **options)
            what = label if primal else "  gradient"
            bar = "below 1000 MB" if "max_intermediate" in options else ""
            row(what, f"{grown:.0f} MB", f"{seconds:.2f} s   {bar}".rstrip())


RULES = ("none", "auto", "full")

if __name__ == "__main__":
    main()
