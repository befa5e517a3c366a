"""The two tiers: what is left out of the first has others of its kind there."""

import pytest

from tests import tiers

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
