"""The two tiers: what is left out of the first has others of its kind there."""

import pytest

from kraise import pipeline
from tests import checks, tiers

pytest_plugins = ["pytester"]


def test_every_file_and_every_test_of_several_cases_has_some_in_the_first_tier(request):
    assert list(tiers.wrong(request.config)) == []


SOME = """
import pytest

@pytest.mark.long
def test_whole(): pass

@pytest.mark.parametrize("n", [1, 2])
def test_first(n): pass

@pytest.mark.parametrize("n", ["one", "two", "three"])
@pytest.mark.long_cases({cases})
def test_cases(n): pass
"""


@pytest.mark.parametrize(
    ("cases", "run", "said"),
    [
        ("'two'", 4, []),
        ("'t'", 3, []),
        ("'two', 'four'", 4, ["no case holds 'four'"]),
        ("'one', 't'", 2, ["all cases are long"]),
    ],
)
def test_marks(pytester, cases, run, said):
    class Session:
        found: list[str] = []

        @pytest.hookimpl
        def pytest_itemcollected(self, item):
            tiers.mark(item)

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(self, config, items):
            tiers.remember(config, items)
            self.found = list(tiers.wrong(config))

    session = Session()
    pytester.makepyfile(SOME.format(cases=cases))
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nmarkers = ["long", "long_cases"]')
    done = pytester.inline_run("-m", "not long", "-p", "no:xdist", plugins=[session])
    done.assertoutcome(passed=run)
    assert [text.partition(": ")[2] for text in session.found] == said


def test_the_first_tier_asks_a_fourth_of_the_translations_in_depth(monkeypatch):
    asked = []
    right = pipeline.verify

    def noted(done, request, *of):
        asked.append(request.thorough)
        return right(done, request, *of)

    monkeypatch.setattr(pipeline, "verify", noted)
    sources = [f"def f(x, y):\n    for i in range(len(x)):\n        y[i] = {n} * x[i]\n" for n in range(2, 14)]
    for in_full in (True, False):
        monkeypatch.setattr(checks, "IN_FULL", [in_full])
        for source in sources:
            done = pipeline.translate(source, "f.py")
            for n in (3, 4):
                checks.agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}))
    full, first = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    assert all(full) and 1 <= sum(first[::2]) <= 6 and not any(first[1::2])


def test_a_request_that_is_not_thorough_compares_values_and_gradients():
    source = "def f(x, y):\n    for i in range(len(x)):\n        y[i] = x[i] * x[i]\n"
    done = pipeline.translate(source, "f.py")
    found = []
    for thorough in (True, False):
        ((report,), _) = pipeline.verify(done, pipeline.Request(shapes={"x": (3,), "y": (3,)}, thorough=thorough))
        found.append({row.check for row in report.rows})
    assert found[1] >= {"values", "jvp", "vjp"} and found[0] - found[1] >= {"jit", "vmap", "second order"}
