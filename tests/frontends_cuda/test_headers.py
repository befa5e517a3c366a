"""Headers that are not found, and files that are only read as part of another one: the hint names them."""

from kraise import pipeline

KERNEL = "__global__ void k(real *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }\n"


def hints(path):
    done = pipeline.translate(path.read_text(), str(path))
    return [d.hint for d in done.diagnostics if d.code == "KR105"], [
        d.hint for d in done.diagnostics if d.code == "KR102" and d.severity == "error"
    ]


def test_the_folder_of_a_header_and_the_file_that_includes_this_one(tmp_path):
    source, include = tmp_path / "src" / "one", tmp_path / "include" / "deep"
    source.mkdir(parents=True)
    include.mkdir(parents=True)
    kernel = source / "kernel.cu"
    kernel.write_text('#include "deep/types.h"\n' + KERNEL)
    assert hints(kernel)[0] == ["name its folder with -I DIR"]
    (include / "types.h").write_text("typedef float real;\n")
    assert hints(kernel)[0] == [f"give -I {tmp_path / 'include'}"]
    part = source / "part.cu"
    part.write_text(KERNEL)
    assert hints(part)[1] == ["is a header missing? give -I DIR"]
    (source / "main.cu").write_text('typedef float real;\n#include "./part.cu"\n')
    assert hints(part)[1] == [f"{source / 'main.cu'} includes this file and perhaps what it needs: translate that one"]
