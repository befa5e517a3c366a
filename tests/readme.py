"""The README: blocks after ``<!-- file NAME -->`` are files, those after ``<!-- run COMMAND -->`` what it prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.corpus import ROOT

README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- (file|run) (.*?) -->\n```\w*\n)(.*?)(```\n)", re.DOTALL)


def refreshed(text: str) -> str:
    """The README with what its commands print now, run in an empty folder that holds its files."""
    with tempfile.TemporaryDirectory() as folder:

        def fill(block: re.Match[str]) -> str:
            head, kind, what, body, tail = block.groups()
            if kind == "file":
                Path(folder, what).write_text(body, encoding="utf-8")
                return block[0]
            command = [sys.executable, "-m", *shlex.split(what)]
            done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return f"{head}$ {what}\n{done.stdout}{tail}" if "```console" in head else f"{head}{done.stdout}{tail}"

        return _BLOCK.sub(fill, text)


def main() -> None:
    """Writes the README anew."""
    text = README.read_text(encoding="utf-8")
    new = refreshed(text)
    if new != text:
        README.write_text(new, encoding="utf-8")
        print("changed: README.md")


if __name__ == "__main__":
    main()
