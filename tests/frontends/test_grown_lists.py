"""Lists that a comprehension makes, or that a loop fills, are arrays that a loop fills."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

FUNCTIONS = {
    "comprehensions": """
def f(x, i):
    n = len(x)
    w = [1.0 / (k + 1) for k in range(3)]
    a = np.array([x[i] * x[n - 1 - i] + i for i in range(n)])
    s = sum(np.array([v * v for v in x]))
    for j in range(2, n):
        for k in range(3):
            s += w[k] * a[j - k] * i
    return s, np.array([[x[p] * x[q] for q in range(n)] for p in range(n)])
""",
    "a list that grows": """
def f(x, i):
    out = [x[0] * i]
    acc = 0.0
    for k in range(1, len(x)):
        acc = 0.9 * acc + x[k]
        out.append(acc + i)
    level = []
    for v in x:
        level.append(np.sin(v))
    return level, np.array(out)
""",
}


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name, n):
    source = "import numpy as np\n" + FUNCTIONS[name]
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert done.text is not None and "fori_loop" not in done.text, done.diagnostics
    with jax.enable_x64(True):
        f, scope = load_module(done.text).f, {}
        exec(source, scope)
        x, d = np.random.default_rng(0).normal(size=(2, n))
        for a, b in zip(f(x, 1.5), scope["f"](x, 1.5), strict=True):
            np.testing.assert_allclose(a, np.array(b), rtol=1e-12)
        pulled = jax.grad(lambda x: sum(np.pi * r.sum() for r in f(x, 1.5)))(x)
        moved = [sum(np.pi * np.sum(r) for r in scope["f"](x + h * d, 1.5)) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose((pulled * d).sum(), (moved[0] - moved[1]) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize(
    "body",
    [
        "w = []\n    for v in x:\n        if v > 0:\n            w.append(v)\n    return np.array(w)",
        "w = []\n    for v in x:\n        if v > 2:\n            break\n        w.append(v)\n    return np.array(w)",
        "w = [v * 2.0 for v in x]\n    u = w + w\n    return sum(u)",
        "return np.array([v for v in x if v > 0])",
        "w = []\n    for v in x:\n        w.append(v * len(w))\n    return np.array(w)",
        "w = []\n    for v in x:\n        w.append(v)\n    a = np.array(w)\n    w[0] = 5.0\n    return a",
    ],
)
def test_refused(body):
    source = f"import numpy as np\ndef f(x):\n    {body}\n"
    assert "f" not in pipeline.translate(source, "k.py", Options(only=("f",))).raised
