"""``[tool.kraise]`` of the nearest pyproject.toml, upwards from an input file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.options import REMAT, Options, size_of
from kraise.pipeline import misunderstood

LISTS = ("kernel-decorators", "assume", "grad", "defines", "include-dirs", "exclude")
KEYS = (*LISTS, "twin-suffix", "remat", "max-intermediate", "checked")


@dataclass(frozen=True)
class Config:
    """What pyproject.toml says: options, the twins' suffix, and what a walk passes over (seen from ``folder``)."""

    options: Options = field(default_factory=Options)
    twin_suffix: str = "_raised"
    exclude: tuple[str, ...] = ()
    folder: Path | None = None

    def merged(self, options: Options) -> Options:
        """These options with those of the command line added."""
        mine = self.options
        return replace(
            options,
            kernel_decorators=(*mine.kernel_decorators, *options.kernel_decorators),
            assume=(*mine.assume, *options.assume),
            grad=(*mine.grad, *options.grad),
            defines=(*mine.defines, *options.defines),
            include_dirs=(*options.include_dirs, *mine.include_dirs),
            remat=options.remat or mine.remat,
            max_intermediate=options.max_intermediate or mine.max_intermediate,
            checked=options.checked or mine.checked,
        )

    def excludes(self, path: Path) -> bool:
        """Whether a walk passes over ``path``."""
        if not self.exclude or self.folder is None:
            return False
        from fnmatch import fnmatch

        try:
            relative = path.resolve().relative_to(self.folder).as_posix()
        except ValueError:
            return False
        return any(fnmatch(relative, p) or fnmatch(relative, p.rstrip("/") + "/*") for p in self.exclude)


def config_for(path: Path) -> Config:
    """The configuration for an input file or folder; raises Refused (KR405) where it is not understood."""
    folder = path if path.is_dir() else path.parent
    return _nearest(folder.resolve())


@cache
def _nearest(folder: Path) -> Config:
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "kraise" in text:
            table = _table(file, text)
            if table is not None:
                return _config(file, table)
    return Config()


def _table(file: Path, text: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(text).get("tool", {}).get("kraise")
    except tomllib.TOMLDecodeError as error:
        raise _refused(file, text, "", f"pyproject.toml is not valid TOML: {error}") from None


def _config(file: Path, table: dict[str, Any]) -> Config:
    text = file.read_text(encoding="utf-8")
    for key, value in table.items():
        if key not in KEYS:
            raise _refused(file, text, key, f"[tool.kraise] has no key `{key}`; known: {', '.join(KEYS)}")
        if key in LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise _refused(file, text, key, f"`{key}` in [tool.kraise] must be a list of strings")
    for sentence in table.get("grad", ()):
        why = misunderstood(sentence) or (
            "" if ":" in sentence else f"name the kernel first: KERNEL: {sentence.strip()}"
        )
        if why:
            raise _refused(file, text, "grad", why)
    suffix = table.get("twin-suffix", "_raised")
    if not isinstance(suffix, str) or not suffix.isidentifier():
        raise _refused(
            file, text, "twin-suffix", "`twin-suffix` must be letters, digits and underscores, such as _raised"
        )
    remat, limit = table.get("remat", ""), table.get("max-intermediate", "")
    if remat not in ("", *REMAT):
        raise _refused(file, text, "remat", f"`remat` is one of {', '.join(REMAT)}")
    try:
        size_of(str(limit or "1"))
    except ValueError as error:
        raise _refused(file, text, "max-intermediate", str(error)) from None
    if not isinstance(table.get("checked", False), bool):
        raise _refused(file, text, "checked", "`checked` is true or false")
    lists = {key: tuple(table.get(key, ())) for key in LISTS}
    options = Options(
        kernel_decorators=lists["kernel-decorators"],
        assume=lists["assume"],
        grad=lists["grad"],
        remat=remat,
        max_intermediate=str(limit),
        checked=table.get("checked", False),
        defines=lists["defines"],
        include_dirs=tuple(str(file.parent / d) for d in lists["include-dirs"]),
    )
    return Config(options, suffix, lists["exclude"], file.parent)


def _refused(file: Path, text: str, key: str, reason: str) -> Refused:
    lines = text.split("\n")
    line = next((i for i, t in enumerate(lines, 1) if key and t.strip().strip('"').startswith(key)), 1)
    return Refused(Diagnostic("KR405", reason, Span(str(file), line)))
