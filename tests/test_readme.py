"""What the README shows is what the commands print."""

from tests.readme import README, refreshed


def test_the_examples_are_true():
    text = README.read_text(encoding="utf-8")
    assert text.count("<!-- run ") >= 3
    assert refreshed(text) == text, "make golden, and read the diff"
