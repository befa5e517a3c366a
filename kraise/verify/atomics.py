"""What each atomic and each warp primitive does to its values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kraise.verify.duals import plain
from kraise.verify.errors import InterpreterError

Operation = Callable[..., Any]


def update_of(name: str, operation: Callable[[str], Operation]) -> Operation:
    """The function from (old, values…) to the new value; ``operation`` gives the table's operations."""
    if name in ("add", "sub", "mul", "min", "max"):
        return operation(name)
    if name in ("min_bits", "max_bits"):
        return lambda old, new: new if (_by_bits(new) > _by_bits(old)) == (name == "max_bits") else old
    if name in ("and", "or", "xor"):
        return operation({"and": "and_", "or": "or_"}.get(name, name))
    if name == "exch":
        return lambda old, new: new
    if name == "cas":
        return lambda old, compare, new: new if plain(old) == plain(compare) else old
    if name == "inc":
        return lambda old, limit: 0 if plain(old) >= plain(limit) else plain(old) + 1
    if name == "dec":
        return lambda old, limit: plain(limit) if plain(old) == 0 or plain(old) > plain(limit) else plain(old) - 1
    raise InterpreterError(f"the atomic {name} is not known to the interpreter")


def _by_bits(x: Any) -> tuple[bool, float]:
    """What orders floats as their bits do as signed integers: negative ones first, and the other way round."""
    x = float(plain(x))
    return math.copysign(1.0, x) > 0, abs(x)


def exchange(name: str, lanes: dict[int, tuple[Any, ...]], width: int, operation: Callable[[str], Operation]) -> dict:
    """The result of a warp primitive for each participating lane, from the lanes' arguments."""
    if name.startswith("shfl"):
        return {lane: _shuffled(name, lane, lanes, width) for lane in lanes}
    mask = sum(1 << lane for lane in lanes)
    if name in ("activemask", "active_mask"):
        return dict.fromkeys(lanes, mask)
    votes = {lane: bool(plain(arguments[0])) for lane, arguments in lanes.items()}
    if name == "ballot":
        return dict.fromkeys(lanes, sum(1 << lane for lane, vote in votes.items() if vote))
    if name == "any":
        return dict.fromkeys(lanes, any(votes.values()))
    if name == "all":
        return dict.fromkeys(lanes, all(votes.values()))
    if name in ("eq", "uni"):
        return dict.fromkeys(lanes, len(set(votes.values())) == 1)
    if name == "match_any":
        own = {lane: plain(arguments[0]) for lane, arguments in lanes.items()}
        return {lane: sum(1 << m for m, other in own.items() if other == value) for lane, value in own.items()}
    combine = {"sum": "add", "add": "add", "min": "min", "max": "max", "and": "and_", "or": "or_", "xor": "xor"}
    if name in combine:
        return _reduced(lanes, width, operation(combine[name]))
    raise InterpreterError(f"the warp primitive {name} is not known to the interpreter")


def _reduced(lanes: dict[int, tuple[Any, ...]], width: int, combine: Operation) -> dict[int, Any]:
    totals: dict[int, Any] = {}
    for lane in sorted(lanes):
        segment = lane // width
        value = lanes[lane][0]
        totals[segment] = combine(totals[segment], value) if segment in totals else value
    return {lane: totals[lane // width] for lane in lanes}


def _shuffled(name: str, lane: int, lanes: dict[int, tuple[Any, ...]], width: int) -> Any:
    start = lane // width * width
    amount = int(plain(lanes[lane][1]))
    match name:
        case "shfl" | "shfl_idx":
            source = start + amount % width
        case "shfl_up":
            source = lane - amount if lane - amount >= start else lane
        case "shfl_down":
            source = lane + amount if lane + amount < start + width else lane
        case "shfl_xor":
            source = lane ^ amount
            source = source if source < start + width else lane
        case _:
            raise InterpreterError(f"the warp primitive {name} is not known to the interpreter")
    if source not in lanes:
        raise InterpreterError(f"{name}: lane {lane} reads lane {source}, which does not take part")
    return lanes[source][0]
