"""The corpus: samples/NAME/ with a source, its golden twin and case.toml; one place that knows its form."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from kraise import pipeline
from kraise.options import Options
from kraise.verify.report import Row

ROOT = Path(__file__).parents[1]
NOT_COMPILED = {
    "cuda_cooperative_groups": "the shim has no cooperative groups",
    "cuda_tile_scans": "the shim has no cooperative groups",
    "cuda_grid_meeting": "the shim has no cooperative groups",
    "cuda_tile_groups": "the shim has no cooperative groups",
    "cuda_fft_filter": "the shim has no cuFFT",
    "cuda_row_trees": "g++ does not run the lanes of a warp in step",
    "cuda_volatile_tail": "g++ does not run the lanes of a warp in step",
    "cuda_enzyme_residual": "what Enzyme differentiates is no kernel of the file",
    "cuda_enzyme_spring": "what Enzyme differentiates is no kernel of the file",
}


@dataclass(frozen=True)
class Sample:
    """One folder of samples/."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def source(self) -> Path:
        """kernel.py or kernel.cu (or another suffix that is read)."""
        (source,) = self.folder.glob("kernel.*")
        return source

    @property
    def golden(self) -> Path:
        return self.folder / "raised.py"

    @property
    def case(self) -> dict:
        """case.toml, parsed."""
        return tomllib.loads((self.folder / "case.toml").read_text(encoding="utf-8"))

    @property
    def compiled(self) -> bool:
        """Whether the machine's C++ compiler, with a header in place of the toolkit, can run its kernels."""
        here = shutil.which("g++") or shutil.which("clang++")
        return bool(here) and self.name.startswith("cuda_") and self.name not in NOT_COMPILED

    @property
    def options(self) -> Options:
        """The options under which the sample is translated: case.toml's table [options]."""
        given = self.case.get("options", {})
        return Options(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})

    def translated(self) -> pipeline.Translation:
        """:meth:`translate`, once in a process: for tests of what comes after it."""
        if self not in _TRANSLATED:
            _TRANSLATED[self] = self.translate()
        return _TRANSLATED[self]

    def translate(self) -> pipeline.Translation:
        """The sample through the pipeline, as the command line would."""
        return pipeline.translate(self.source.read_text(encoding="utf-8"), str(self.source), self.options)

    def failures(self, done: pipeline.Translation) -> list[str]:
        """Where the translation differs from the interpreter and its derivatives, and CUDA C from what the compiler
        makes of it."""
        source = self.source.read_text(encoding="utf-8")
        request = pipeline.Request(case=str(self.folder / "case.toml"), original=self.compiled)
        beside = (str(self.source), source, self.options) if self.compiled else ()
        reports, left_out = pipeline.verify(done, request, *beside)
        found = [str(d) for d in left_out]
        missing = set(done.raised) ^ {report.kernel for report in reports}
        found += [f"{name}: nothing was compared" for name in sorted(missing)]
        for report in reports:
            failed = [f"{report.kernel}: {row.check} {row.what}: {row.message}" for row in report.failures]
            found += failed or ([] if report.ok else [f"{report.kernel}: nothing was compared"])
        if self.compiled:
            rows = [row for report in reports for row in report.rows if row.check == "original"]
            found += [why] if (why := as_compiled(done, source, rows)) else []
        return found


def as_compiled(done: pipeline.Translation, source: str, rows: list[Row]) -> str:
    """What was not compared with the compiled source, "" where every kernel was: hosts need a CUDA runtime, a loop of
    a host that became a function is none of the file."""
    hosts = {h.name for h in done.source.hosts} if done.source else set()
    none = {row.what for row in rows if row.status == "skipped" and (row.what in hosts or f"{row.what}(" not in source)}
    compared = [row for row in rows if row.what not in none]
    return "" if compared and all(row.status == "ok" for row in compared) else f"not as compiled: {rows}"


_TRANSLATED: dict[Sample, pipeline.Translation] = {}
SAMPLES = tuple(Sample(p.parent) for p in sorted((ROOT / "samples").glob("*/case.toml")))
