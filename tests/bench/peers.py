"""An all-pairs force beside Enzyme's (package ``enzyme_ad``): value and gradient over ours.

Each runs in a process of its own; the scalar C++ is what kraise raises, too. The package brings its own JAX, so it may
live in an environment of its own: ``ENZYME_PYTHON=…/bin/python make bench``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kraise import pipeline
from tests.bench.timing import row

BODIES = 1024
# the loop nest, as kraise reads it and as Enzyme compiles it: positions (n, 3), masses (n) -> forces (n, 3)
BODY = """
    for (int i = 0; i < n; i++) {
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = pos[3 * j] - pos[3 * i];
            float dy = pos[3 * j + 1] - pos[3 * i + 1];
            float dz = pos[3 * j + 2] - pos[3 * i + 2];
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float w = mass[j] / (r2 * sqrtf(r2));
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
    }
"""
OURS = "void pull(const float *pos, const float *mass, float *force, int n) {" + BODY + "}\n"
THEIRS = f"""
#include <cmath>
void pull(enzyme::tensor<float, {3 * BODIES}>& out, const enzyme::tensor<float, {3 * BODIES}>& in,
          const enzyme::tensor<float, {BODIES}>& weights) {{
    const float *pos = (const float *)&in, *mass = (const float *)&weights;
    float *force = (float *)&out;
    const int n = {BODIES};
    {BODY}
}}
"""
SCRIPT = """
import statistics, time
import jax, jax.numpy as jnp
{make}
x = jax.random.uniform(jax.random.key(0), ({n} * 3,))
w = jnp.ones({n})
def timed(g):
    jax.block_until_ready(g(x))
    times = []
    for _ in range(15):
        start = time.process_time()
        jax.block_until_ready(g(x))
        times.append(time.process_time() - start)
    return statistics.median(times)
f = jax.jit(lambda x: call(x, w))
g = jax.jit(jax.grad(lambda x: jnp.sum(call(x, w) ** 2)))
print(timed(f), timed(g), float(jnp.sum(jnp.abs(f(x)))), float(jnp.sum(jnp.abs(g(x)))))
"""
ENZYME = """
import subprocess
from enzyme_ad.jax import cpp_call
headers = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
shape = jax.core.ShapedArray(({n} * 3,), jnp.float32)
source = {source!r}
def call(x, w):
    return cpp_call(x, w, out_shapes=[shape], source=source, fn="pull", argv=("-O3", "-I" + headers))[0]
"""
KRAISE = """
import importlib.util
spec = importlib.util.spec_from_file_location("m", {file!r})
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
def call(x, w):
    return m.pull(x, w, jnp.zeros_like(x), {n})
"""


def main() -> None:
    """Two rows: value and gradient, Enzyme's time over ours."""
    python = os.environ.get("ENZYME_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import enzyme_ad"], capture_output=True).returncode:
        row("enzyme_ad", "absent", "pip install enzyme_ad, or ENZYME_PYTHON=...")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pull.py")
        file.write_text(pipeline.translate(OURS, "pull.c").text or "")
        ours = _run(KRAISE.format(file=str(file), n=BODIES))
        theirs = _run(ENZYME.format(source=THEIRS, n=BODIES), python)
    for at, name in enumerate(("value", "gradient")):
        row(
            f"{BODIES} bodies, {name}: Enzyme's", f"{theirs[at] / ours[at]:.2f} x", f"of ours ({ours[at] * 1e3:.1f} ms)"
        )
        if abs(theirs[at + 2] / ours[at + 2] - 1) > 1e-3:
            row("  they differ", f"{theirs[at + 2]:.4g}", f"ours: {ours[at + 2]:.4g}")


def _run(make: str, python: str = sys.executable) -> list[float]:
    script = SCRIPT.format(make=make, n=BODIES)
    ran = subprocess.run([python, "-c", script], capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip().splitlines()[-1][:200])
    return [float(x) for x in ran.stdout.split()[-4:]]


if __name__ == "__main__":
    main()
