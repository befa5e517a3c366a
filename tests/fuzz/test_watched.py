"""A campaign goes on behind a kernel that never ends and behind one that takes the process with it."""

import os
import time

from tests.fuzz.watched import Lost, Span, campaign


def work(job: tuple[int, int], span: Span) -> list[int]:
    seeds = [span.seed + at * span.step for at in range(span.size)]
    endless, deadly = job
    if endless in seeds:
        time.sleep(60)
    if deadly in seeds:
        os._exit(3)
    time.sleep(0.05)
    return seeds


def test_a_lost_seed_is_named_and_the_others_are_tried_once() -> None:
    done: list[int] = []
    lost = []
    for said in campaign(work, (7, 12), [Span(0, 1, 5)], time.monotonic() + 8, patience=1.5):
        if isinstance(said, Lost):
            lost.append((said.seed, said.kind))
        else:
            done += said
    assert lost == [(7, "hang"), (12, "died")]
    assert done == [s for s in range(done[-1] + 1) if s not in (7, 12)]
