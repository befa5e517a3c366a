"""Where the arrays of a Python host function are, as far as its text says so: on the device (numba's or CuPy's) or in
the host's memory. What moves an array to where it is already gives the array itself, no copy.
"""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted

DEVICE, CUPY, HOST = "device", "cupy", "host"
_MADE = {"numba.cuda.": DEVICE, "cupy.": CUPY, "numpy.": HOST}
_OPEN = ("numba.cuda.pinned", "numba.cuda.mapped", "numba.cuda.managed")  # arrays of both
_OTHER = {"cupy.asnumpy": HOST, "array.copy_to_host": HOST, "array.get": HOST}
_STAYS = {  # what gives the array itself where it is there already
    "numba.cuda.to_device": (DEVICE,),
    "cupy.asarray": (DEVICE, CUPY),
    "cupy.asnumpy": (HOST,),
}
_FETCHES = ("numpy.asarray", "numpy.ascontiguousarray")  # what brings an array of numba's from the device


def of(scope: HostScope, node: cst.BaseExpression) -> str:
    """Where an array surely is; "" where the text leaves that open (a parameter)."""
    name = dotted(node)
    if name in scope.places:
        return scope.places[name]
    match node:
        case cst.Call(func=func):
            called = scope.qualified(func)
            if called.startswith(_OPEN):
                return ""
            made = [place for start, place in _MADE.items() if called.startswith(start)]
            if called in _OTHER or made:
                return _OTHER.get(called) or made[0]
            return of(scope, func.value) if isinstance(func, cst.Attribute) else ""
        case cst.Subscript(value=inner) | cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner):
            return of(scope, inner)
        case cst.BinaryOperation(left=left, right=right):
            return of(scope, left) or of(scope, right)
    return ""


def moved(scope: HostScope, call: cst.Call, concept: str) -> str:
    """The ``concept`` of a call (``clone``, ``alias``), now that it is known where its operand is."""
    name = scope.qualified(call.func)
    source = call.args[0].value if call.args else call.func
    if name in _STAYS and not of(scope, source):  # a copy of what the caller has on the host
        scope.moves.add(dotted(source))
    if of(scope, source) in _STAYS.get(name, ()) or keeps(call):
        return "alias"
    if name in _FETCHES and of(scope, source) == DEVICE:
        return "clone"
    return concept


def check_given(scope: HostScope, call: cst.Call) -> None:
    """Refuses a call of a host function that moves to the device what is there already: it has no copy then."""
    called = dotted(call.func)
    for param, a in zip(scope.host_params.get(called, ()), call.args, strict=False):
        if param.name in scope.host_moves.get(called, ()) and of(scope, a.value) in (DEVICE, CUPY):
            raise scope.refuse(
                a, f"{called} moves {param.name} to the device, and {scope.text(a.value)} is there: it is no copy",
                "give it an array of the host, or leave the move out",
            )  # fmt: skip


def keeps(call: cst.Call) -> bool:
    """Does a call that makes an array leave one that fits as it is (``copy=False``)?"""
    return any(a.keyword is not None and a.keyword.value == "copy" and dotted(a.value) != "True" for a in call.args)


def leave_open(scope: HostScope, statement: cst.CSTNode) -> None:
    """Forgets where the arrays are that a loop or a branch sets."""
    if scope.places and isinstance(statement, cst.If | cst.For | cst.While):
        for name in assigned(statement):
            scope.places.pop(name, None)
