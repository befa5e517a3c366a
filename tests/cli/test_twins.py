"""Twins: translate --twin, check, diff, and the hook's rules."""

from pathlib import Path

from tests.cli.test_translate import module, put


def test_twin_check_and_diff_agree(kraise):
    put("a.py", "kernel f\n")
    ran = kraise("check", "a.py")
    assert ran.code == 1 and "KR402: a_raised.py is missing" in ran.err
    assert kraise("diff", "a.py").code == 2
    ran = kraise("translate", "--twin", "a.py")
    assert ran.code == 0 and ran.err == "wrote a_raised.py\n" and ran.out == ""
    assert kraise("check", "a.py").code == 0 == kraise("diff", "a.py").code
    put("a.py", "kernel g\n")
    before = Path("a_raised.py").read_text()
    ran = kraise("check", ".")
    assert ran.code == 1 and "KR401: a_raised.py is stale" in ran.err and Path("a_raised.py").read_text() == before
    ran = kraise("diff", "a.py")
    assert ran.code == 1 and "-f = 0\n+g = 0\n" in ran.out and ran.out.startswith("--- a_raised.py\n")
    assert "\x1b[" not in ran.out and "\x1b[" in kraise("diff", "a.py", tty=True).out


def test_plain_functions_need_twins_only_where_asked(kraise):
    put("d/a.py", "plain f\n")
    assert kraise("check", "d").code == 0
    assert kraise("check", "d/a.py").code == 1
    kraise("translate", "--twin", "d/a.py")
    put("d/a.py", "plain g\n")
    assert kraise("check", "d").code == 1  # a twin that exists is kept fresh


def test_a_twin_whose_source_is_refused_now_is_stale(kraise):
    put("a.py", "kernel f\n")
    kraise("translate", "--twin", "a.py")
    put("a.py", "refuse f\n")
    ran = kraise("check", "a.py")
    assert ran.code == 1 and "all kernels of its source are refused" in ran.err
    assert kraise("diff", "a.py").code == 2


def test_a_foreign_twin_is_kept(kraise):
    put("a.py", "kernel f\n")
    put("a_raised.py", "mine = 1\n")
    assert kraise("translate", "--twin", "a.py").code == 2
    assert Path("a_raised.py").read_text() == "mine = 1\n"


def test_the_hook_passes_over_others_and_fails_when_it_wrote(kraise):
    put("a.py", "kernel f\n")
    put("b.py", "x = 1\n")
    ran = kraise("translate", "--twin", "--hook", "a.py", "b.py")
    assert ran.code == 1 and "wrote a_raised.py" in ran.err and "b.py" not in ran.err
    ran = kraise("translate", "--twin", "--hook", "a.py", "b.py")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_the_hook_takes_a_twin_for_its_source(kraise):
    put("a.py", "kernel f\n")
    kraise("translate", "--twin", "a.py")
    put("a_raised.py", module("a.py", "edited"))
    ran = kraise("translate", "--twin", "--hook", "a_raised.py")
    assert ran.code == 1 and Path("a_raised.py").read_text() == module("a.py", "f")
    assert kraise("check", "--hook", "a_raised.py").code == 0


def test_the_hook_makes_no_twin_of_plain_functions_that_have_none(kraise):
    put("a.py", "plain f\n")
    assert kraise("translate", "--twin", "--hook", "a.py").code == 0
    assert not Path("a_raised.py").exists()
    kraise("translate", "--twin", "a.py")
    put("a.py", "plain g\n")
    assert kraise("translate", "--twin", "--hook", "a.py").code == 1
    assert Path("a_raised.py").read_text() == module("a.py", "g")


def test_machine_formats_of_check_go_to_stdout(kraise):
    import json

    put("a.py", "kernel f\n")
    ran = kraise("check", "a.py", "--format", "json")
    assert json.loads(ran.out)["diagnostics"][0]["code"] == "KR402" and ran.err == ""


def test_the_hook_passes_over_files_that_are_none_of_its_business(kraise):
    put("pkg/__init__.py", "")
    put("old.py", "broken\n")
    put("latin.py", b"# caf\xe9\n")
    assert kraise("translate", "--twin", "--hook", "pkg/__init__.py", "old.py", "latin.py").code == 0
    put("bad.py", "refuse f\n# cuda\n")
    assert kraise("translate", "--twin", "--hook", "bad.py").code == 1
    put("old_raised.py", module("old.py", "f"))
    assert kraise("translate", "--twin", "--hook", "old.py").code == 2
