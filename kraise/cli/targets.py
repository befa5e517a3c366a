"""Where the emitted text goes: names of twins and targets, and writing that never leaves half a file."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from kraise.cli.inputs import Input, is_ours
from kraise.diagnostics import Diagnostic, Refused, Span


def twin_of(source: Input) -> Path:
    """The twin beside a source: ``<stem>_raised.py``."""
    path = Path(source.path)
    return path.with_name(f"{path.stem}{source.config.twin_suffix}.py")


def concerns_hook(source: Input, decorated: bool) -> bool:
    """Whether a hook takes care of a file: one with kernels proper, or with a twin of ours.

    Plain functions with loops are everywhere; the hook makes no twins of them, but keeps those that exist.
    """
    return decorated or is_ours(twin_of(source))


def in_folder(source: Input, folder: str) -> Path:
    """The target of a source under ``-o FOLDER``: folders below the one that was walked are kept."""
    twin = twin_of(source)
    below = os.path.relpath(twin, source.root) if source.root else twin.name
    return Path(folder, below)


def clashes(targets: list[tuple[Input, Path]]) -> list[Diagnostic]:
    """What is wrong with the targets taken together: two inputs with one target, or a target that is an input."""
    findings = []
    sources = {os.path.realpath(source.path): source.path for source, _ in targets if source.path != "-"}
    taken: dict[str, str] = {}
    for source, target in targets:
        real = os.path.realpath(target)
        if real in sources:
            findings.append(_refused(source.path, f"the target {target} is an input: it would be overwritten"))
        elif real in taken:
            findings.append(_refused(source.path, f"{taken[real]} and {source.path} have the same target {target}"))
        taken.setdefault(real, source.path)
    return findings


def write(target: Path, text: str, *, force: bool, source: str) -> bool:
    """Writes ``text`` to ``target`` whole or not at all; False if it stands there already.

    Raises Refused: KR403 if kraise did not write what is there, KR404 if it cannot be written.
    """
    data = text.encode("utf-8")
    try:
        if _is_stream(target):
            target.write_bytes(data)
            return True
        real = Path(os.path.realpath(target))
        mode = os.stat(real).st_mode if real.exists() else None
        if mode is not None and stat.S_ISDIR(mode):
            raise _refused_error(source, f"the target {target} is a folder")
        if mode is not None:
            if not mode & 0o222 or not os.access(real, os.W_OK):
                raise _refused_error(source, f"the target {target} is read-only")
            old = real.read_bytes()
            if not is_ours(real) and old.strip() and not force:
                reason = f"{target} was not written by kraise"
                raise Refused(Diagnostic("KR403", reason, Span(source, 1), "--force overwrites it"))
            if old == data:
                return False
        _replace(real, data, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        reason = f"the target {target} cannot be written: {error.strerror or error}"
        hint = "" if target.parent.is_dir() else f"make the folder first: mkdir -p {target.parent}"
        raise Refused(Diagnostic("KR404", reason, Span(source, 1), hint)) from None
    except ValueError as error:
        raise _refused_error(source, f"the target cannot be written: {error}") from None
    return True


def _is_stream(target: Path) -> bool:
    """Whether what is written goes through: a pipe, a terminal, ``/dev/stdout`` wherever it leads."""
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return False
    special = not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return special or os.path.abspath(target).startswith(("/dev/std", "/dev/fd/", "/proc/"))


def _replace(target: Path, data: bytes, mode: int) -> None:
    # a new file in the same folder, then one rename: a reader sees the old text or the new, never a part
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:60]}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:  # Ctrl-C too
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(source: str, reason: str) -> Diagnostic:
    return Diagnostic("KR404", reason, Span(source, 1))


def _refused_error(source: str, reason: str) -> Refused:
    return Refused(_refused(source, reason))
