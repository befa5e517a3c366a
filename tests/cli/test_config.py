"""``[tool.kraise]`` in pyproject.toml."""

import pytest

from tests.cli.test_translate import put


def test_the_nearest_pyproject_counts(kraise):
    put("pyproject.toml", '[tool.kraise]\nkernel-decorators = ["one"]\n')
    put("deep/pyproject.toml", '[tool.kraise]\nkernel-decorators = ["one", "two"]\ntwin-suffix = "_jax"\n')
    put("other/pyproject.toml", "[tool.ruff]\n")
    for folder, count in (("deep/er", 2), ("other", 1), (".", 1)):
        put(f"{folder}/a.py", "kernel f\n")
        assert f"f = {count}\n" in kraise("translate", f"{folder}/a.py").out
        assert f"f = {count + 1}\n" in kraise("translate", f"{folder}/a.py", "--kernel-decorator", "more").out
    assert kraise("translate", "--twin", "deep/er/a.py").err == "wrote deep/er/a_jax.py\n"


def test_exclude(kraise):
    put("pyproject.toml", '[tool.kraise]\nexclude = ["old", "*_slow.py"]\n')
    for name in ("old/x.py", "a_slow.py", "a.py"):
        put(name, "kernel f\n")
    assert kraise("translate", ".").out.count("f = 0") == 1
    assert kraise("translate", "a_slow.py").code == 0  # a file that is named is meant


@pytest.mark.parametrize(
    "table",
    [
        "kernel_decorators = []",
        'assume = "x is injective"',
        "twin-suffix = 3",
        'twin-suffix = "/x"',
        "checked = 1",
        "broken =",
    ],
)
def test_what_is_not_understood_is_an_error(kraise, table):
    put("pyproject.toml", f"[tool.kraise]\n{table}\n")
    put("a.py", "kernel f\n")
    ran = kraise("translate", "a.py")
    assert ran.code == 2 and "KR405" in ran.err and "pyproject.toml:" in ran.err and ran.out == ""
