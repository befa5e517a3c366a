"""More kinds of random programs, a file each: ``KINDS`` draws one from a seed and a language."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.generate import Program
from tests.fuzz.kinds import (
    aliases,
    carried,
    earlier,
    exits,
    faces,
    hosts,
    integers,
    joint,
    launches,
    local_arrays,
    neighbours,
    picked,
    planes,
    ragged,
    rescaled,
    running,
    squares,
    strides,
    structs,
    swaps,
    switches,
    tickets,
    tiles,
    warps,
    windows,
    wraps,
)

KINDS: dict[str, Callable[[int, str], Program]] = {
    "squares": squares.draw,
    "warps": warps.draw,
    "joint": joint.draw,
    "ragged": ragged.draw,
    "rescaled": rescaled.draw,
    "running": running.draw,
    "local": local_arrays.draw,
    "hosts": hosts.draw,
    "integers": integers.draw,
    "structs": structs.draw,
    "aliases": aliases.draw,
    "exits": exits.draw,
    "picked": picked.draw,
    "launches": launches.draw,
    "wraps": wraps.draw,
    "planes": planes.draw,
    "strides": strides.draw,
    "tiles": tiles.draw,
    "earlier": earlier.draw,
    "carried": carried.draw,
    "neighbours": neighbours.draw,
    "swaps": swaps.draw,
    "switches": switches.draw,
    "tickets": tickets.draw,
    "windows": windows.draw,
    "faces": faces.draw,
}
