"""Emitted modules: loaded in a namespace of their own, called with what their functions ask for."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import inspect
import itertools
import re
import tempfile
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
from jax.experimental import checkify

from kraise.ir import kernel as k
from kraise.ir.types import StructType, Type

_serial = itertools.count()


@contextlib.contextmanager
def x64(enabled: bool) -> Iterator[None]:
    """JAX's 64-bit mode for a while; what emitted modules set at import is undone at the end."""
    before = bool(jax.config.read("jax_enable_x64"))
    jax.config.update("jax_enable_x64", enabled)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def load_module(text: str) -> ModuleType:
    """The module that ``text`` is, from a temporary file, so that tracebacks show its lines. Raises what it raises."""
    name = f"kraise_emitted_{next(_serial)}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Emitted:
    """An emitted function and its source's parameters: calls take the interpreter's arguments.

    ``traced`` names the parameters that may be differentiated or traced: those that are not static.
    """

    def __init__(self, module: ModuleType, function: k.Function, keywords: Mapping[str, Any]):
        self.function = function
        self.module = module
        self.call: Callable[..., Any] = getattr(module, function.name, None) or getattr(module, f"{function.name}_")
        signature = inspect.signature(self.call)
        self.parameters = list(signature.parameters)
        # a parameter of the source's own may be called grid or block
        given = {n: p for n, p in signature.parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
        self.keywords = {n: v for n, v in keywords.items() if n in given and v is not None}

    def arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Positional and keyword arguments by the emitted function's names: arrays as jax arrays."""
        named: dict[str, Any] = {}
        for param in self.function.params:
            name = param.name if param.name in self.parameters else f"{param.name}_"
            if name not in self.parameters:
                continue  # a parameter that vanished (a size that the arrays' shapes give)
            if param.name not in arguments:
                continue
            named[name] = self.value(param, arguments[param.name])
        return named

    def value(self, param: k.Param, value: Any) -> Any:
        """An argument as the emitted function takes it; a struct as the module's own type of that name."""
        return self._value(param.type, value)

    def _value(self, t: Type, value: Any) -> Any:
        if not isinstance(t, StructType):
            return jax.device_put(value) if isinstance(value, np.ndarray) else _scalar(value)
        converted = {n: self._value(inner, _member(value, n)) for n, inner in t.members}
        name = re.sub(r"\W", "_", t.name)
        make = getattr(self.module, name, None) or namedtuple(name, list(converted))
        return make(**converted)

    def required_geometry(self) -> bool:
        """Does the function demand a launch that it was not given?"""
        parameters = inspect.signature(self.call).parameters
        return any(
            n in parameters
            and parameters[n].kind is inspect.Parameter.KEYWORD_ONLY
            and parameters[n].default is inspect.Parameter.empty
            and n not in self.keywords
            for n in ("grid", "block", "shared")
        )

    def takes(self, path: str) -> bool:
        """Is the argument (or the struct that it is a member of) a parameter of the emitted function?"""
        name = path.split(".")[0]
        return name in self.parameters or f"{name}_" in self.parameters

    def replaced(self, named: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with some (by path) replaced."""
        new = dict(named)
        for path, value in values.items():
            head, *members = path.split(".")
            head = head if head in self.parameters else f"{head}_"
            new[head] = _with(new[head], members, value)
        return new

    def __call__(self, named: Mapping[str, Any]) -> Any:
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(dict(named)))
        if traced and hasattr(self.module, "checkify"):  # a check cannot raise here: it did when values were compared
            return checkify.checkify(lambda: self.call(**named, **self.keywords))()[1]
        return _arrays(self.call(**named, **self.keywords))


def _arrays(result: Any) -> Any:
    """What a function returns, a struct with static integers as its arrays: its numbers are those that came in."""
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return tuple(map(_arrays, result))
    if not dataclasses.is_dataclass(result) or isinstance(result, type):
        return result
    return tuple(v for f in dataclasses.fields(result) if np.ndim(v := getattr(result, f.name)))


def _with(whole: Any, members: list[str], value: Any) -> Any:
    if not members:
        return value
    inner = _with(getattr(whole, members[0]), members[1:], value)
    if hasattr(whole, "_replace"):
        return whole._replace(**{members[0]: inner})
    return dataclasses.replace(whole, **{members[0]: inner})


def _member(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, Mapping) else getattr(value, name)


def _scalar(value: Any) -> Any:
    """A scalar that may be static: hashable, a Python number where it is an integer."""
    if isinstance(value, np.generic):
        return value.item() if value.dtype.kind in "biu" else value
    return value
