"""New arrays hold what was there when they were made."""

import numpy as np

from kraise import pipeline
from tests.checks import agrees

SOURCE = """
def f(y, n):
    b = y.copy()
    first = np.full(n, y[0])
    total = np.full(n, b[0] + b[1])
    for i in range(n):
        y[i] += 1.0
        b[i] *= 3.0
    for i in range(n):
        total[i] += b[i]
    return first, total
"""


def test_a_fill_is_loaded_when_it_is_made():
    done = pipeline.translate("import numpy as np\n" + SOURCE, "kernel.py")
    agrees(done, pipeline.Request(shapes={"y": (5,)}, values={"n": 5}), done.text)
    space: dict = {}
    exec(done.text, space)  # noqa: S102
    first, *_ = space["f"](np.arange(2.0, 7.0), 5)
    np.testing.assert_array_equal(first, np.full(5, 2.0))
