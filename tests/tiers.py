"""Two tiers of tests: ``make test`` leaves out what is marked ``long``, ``make test-long`` runs all.

A test is long where it takes half a second or more and the same mechanism is tried in the first tier: the same rule
for another size, operator, spelling or language, a further case of several. What is refused stays in the first tier,
but for further variants of one reason. Whole tests are marked ``@pytest.mark.long``; of a parametrized one,
``@pytest.mark.long_cases("every other", ...)`` marks the cases whose ids hold one of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

_ALL = pytest.StashKey[tuple[pytest.Item, ...]]()


def mark(item: pytest.Item) -> None:
    """Puts the marks ``long`` that the item's ``long_cases`` say."""
    case = item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""
    if any(part in case for given in item.iter_markers("long_cases") for part in given.args):
        item.add_marker("long")


def remember(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """All tests of a session, before those of the other tier are left out."""
    config.stash[_ALL] = tuple(items)


def wrong(config: pytest.Config) -> Iterator[str]:
    """What is wrong with the tiers of a session's tests: files and tests without a first tier, marks of no case."""
    files: dict[str, list[bool]] = {}
    functions: dict[str, list[pytest.Item]] = {}
    for item in config.stash[_ALL]:
        name = item.nodeid.partition("[")[0]
        files.setdefault(name.partition("::")[0], []).append(item.get_closest_marker("long") is None)
        functions.setdefault(name, []).append(item)
    for file, first in files.items():
        if sum(first) < len(first) / 4:
            yield f"{file}: {sum(first)} of {len(first)} tests are in the first tier"
    for name, items in functions.items():
        parts = [part for given in items[0].iter_markers("long_cases") for part in given.args]
        for part in parts:
            if not any(part in item.name for item in items):
                yield f"{name}: no case holds {part!r}"
        if parts and all(item.get_closest_marker("long") for item in items):
            yield f"{name}: all cases are long"


__all__ = ["mark", "remember", "wrong"]
