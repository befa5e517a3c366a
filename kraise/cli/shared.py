"""The options that all verbs share, and how they become :class:`Options`."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import Any

import click

from kraise import pipeline
from kraise.diagnostics.formats import FORMATS
from kraise.options import REMAT, Options, size_of


def _assumptions(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if why := pipeline.not_assumed(value):
            raise click.BadParameter(why, ctx, param)
    return tuple(" ".join(value.split()) for value in values)


def _sentences(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if why := pipeline.misunderstood(value):
            raise click.BadParameter(why, ctx, param)
    return values


def _size(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    try:
        return value if value and size_of(value) else ""
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


_SOURCE_OPTIONS = (
    click.option(
        "--only",
        "--entry",
        "only",
        metavar="NAME",
        multiple=True,
        help="Take this kernel, or this host function and what it launches, only (repeatable).",
    ),
    click.option(
        "--kernel-decorator",
        "kernel_decorators",
        metavar="NAME",
        multiple=True,
        help="A decorator that makes a Python function a kernel, beside cuda.jit (repeatable).",
    ),
    click.option(
        "--assume",
        metavar="TEXT",
        multiple=True,
        callback=_assumptions,
        help='What cannot be proved but holds: "idx is injective", "out is stored once" (repeatable).',
    ),
    click.option(
        "--grad",
        metavar="TEXT",
        multiple=True,
        callback=_sentences,
        help='Adds KERNEL_grad and KERNEL_vjp: "[KERNEL:] loss=OUTPUT wrt NAME,NAME" (repeatable).',
    ),
    click.option(
        "--remat",
        type=click.Choice(REMAT),
        default=None,
        help="What loops keep for the gradient: bounded where it is much (auto), all (none), little (full).",
    ),
    click.option(
        "--max-intermediate",
        metavar="SIZE",
        callback=_size,
        help="Maps the outermost index in chunks whose intermediates stay within SIZE (256MB).",
    ),
    click.option(
        "--checked",
        is_flag=True,
        help="Functions check their arguments' contents (subscripts, row pointers, assumptions) through checkify.",
    ),
    click.option(
        "-D", "--define", "defines", metavar="NAME[=VALUE]", multiple=True, help="A macro (CUDA C; repeatable)."
    ),
    click.option(
        "-I", "--include-dir", "include_dirs", metavar="DIR", multiple=True, help="Where #include looks (repeatable)."
    ),
    click.option(
        "--instantiate",
        metavar="KERNEL<ARGS>",
        multiple=True,
        help='Template arguments: "sum<float, 16>" (repeatable).',
    ),
    click.option(
        "--language",
        type=click.Choice(["python", "cuda_c"]),
        default=None,
        help="The language of the sources; otherwise their suffixes tell.",
    ),
)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options about reading sources; the verb receives them as one ``options``."""

    @functools.wraps(function)
    def verb(*args: Any, **kwargs: Any) -> Any:
        names = ("only", "kernel_decorators", "assume", "grad", "defines", "include_dirs", "instantiate")
        chosen: dict[str, Any] = {name: tuple(kwargs.pop(name)) for name in names}
        chosen |= {name: kwargs.pop(name) or "" for name in ("language", "remat", "max_intermediate")}
        chosen["checked"] = bool(kwargs.pop("checked"))
        return function(*args, options=Options(**chosen), **kwargs)

    for option in reversed(_SOURCE_OPTIONS):
        verb = option(verb)
    return verb


format_option = click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are printed.",
)

stdin_option = click.option(
    "--stdin-name",
    metavar="FILE",
    default="stdin.py",
    show_default=True,
    help="The name that standard input goes by; its suffix tells the language.",
)

paths_argument = click.argument("paths", metavar="PATH...", nargs=-1, required=True)


def sizes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """``x=17,19`` as shapes by name; BadParameter for other text."""
    found = {}
    for value in values:
        match = re.fullmatch(r"([\w.]+)=(\d+(?:[,x]\d+)*)", value.replace(" ", ""))
        if not match:
            raise click.BadParameter(f"`{value}` is not understood; write x=17,19", ctx, param)
        found[match[1]] = tuple(int(n) for n in re.split("[,x]", match[2]))
    return found


def numbers(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """``n=17`` as numbers by name; BadParameter for other text."""
    found: dict[str, Any] = {}
    for value in values:
        name, _, number = value.partition("=")
        for kind in (int, float, complex):
            try:
                found[name.strip()] = kind(number)
                break
            except ValueError:
                continue
        else:
            raise click.BadParameter(f"`{value}` is not understood; write n=17", ctx, param)
    return found


def case_beside(path: str) -> str:
    """The case.toml beside a source, "" where there is none."""
    beside = os.path.join(os.path.dirname(path), "case.toml")
    return beside if path != "-" and os.path.exists(beside) else ""
