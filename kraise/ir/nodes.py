"""Interned nodes: equal nodes are one object, so ``==`` and ``hash`` are by identity."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform
from weakref import KeyedRef

T = TypeVar("T")

_NUMBERS = (bool, int, float, complex)
_interned: dict[Any, KeyedRef[Any, Any]] = {}


def _forget(reference: KeyedRef[Any, Any]) -> None:
    if _interned.get(reference.key) is reference:
        del _interned[reference.key]


class _Interned(type):
    """Gives one object per value: equal constructor arguments return the node that exists."""

    _defaults: dict[str, Any]  # of all fields, in order; MISSING where there is none

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != len(cls._defaults):
            args = cls._complete(args, kwargs)
        # 1, 1.0 and True are equal in Python, 0.0 and -0.0 too, but they are different constants
        first = args[0]
        key = (cls, first.__class__, repr(first), *args[1:]) if isinstance(first, _NUMBERS) else (cls, *args)
        known = _interned.get(key)
        node = None if known is None else known()
        if node is None:
            node = super().__call__(*args)
            _interned[key] = KeyedRef(node, _forget, key)
        return node

    def _complete(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of the fields; TypeError as for any call that does not fit."""
        named = dict(zip(cls._defaults, args, strict=False))
        whole = cls._defaults | named | kwargs
        fits = len(whole) == len(cls._defaults) and len(named) == len(args) and not named.keys() & kwargs.keys()
        if not fits or any(value is MISSING for value in whole.values()):
            super().__call__(*args, **kwargs)  # says what is wrong
        return tuple(whole.values())


class Node(metaclass=_Interned):
    """The base of all interned nodes; identity is equality.

    ``below`` and ``free`` keep what :mod:`kraise.ir.walk` finds out: the children, the free indices.
    """

    __slots__ = ("below", "free")
    below: tuple[Any, ...]
    free: frozenset[str]


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """A node class: a frozen dataclass whose equal instances are one object."""
    made = dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)(cls)
    made._defaults = {f.name: f.default for f in fields(made)}  # type: ignore[attr-defined, arg-type]
    return made
