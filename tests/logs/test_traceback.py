"""A traceback is one failure, a chained one with its first cause."""

from codex_skyrl.logs.event import Failure
from codex_skyrl.logs.traceback import START, Tracebacks


def failures(*lines: str) -> list[tuple[int, Failure]]:
    traces = Tracebacks()
    found = [
        f
        for n, line in enumerate(lines, 1)
        if (traces.active or line.startswith(START)) and (f := traces.step(n, line))
    ]
    last = traces.close()
    return [*found, *([last] if last else [])]


def test_a_plain_one() -> None:
    lines = (START, '  File "x.py", line 1, in f', "    call()", "TimeoutError: alive", "next")
    assert failures(*lines) == [(4, Failure("error", "TimeoutError: alive", traceback=True))]


def test_a_chained_one_keeps_its_first_cause() -> None:
    lines = (
        START, "  File", "requests.exceptions.HTTPError: 503", "",
        "During handling of the above exception, another exception occurred:", "",
        START, "  File", "RuntimeError: runtime not ready",
    )  # fmt: skip
    [(line, failure)] = failures(*lines)
    assert (line, failure.text, failure.caused_by) == (
        9,
        "RuntimeError: runtime not ready",
        "requests.exceptions.HTTPError: 503",
    )


def test_one_that_is_cut_off_is_none() -> None:
    assert failures(START, "  File") == []


def test_two_that_no_line_chains_are_two() -> None:
    lines = (START, "  File", "ValueError: a", START, "  File", "KeyError: b")
    assert [(n, f.text, f.caused_by) for n, f in failures(*lines)] == [(3, "ValueError: a", ""), (6, "KeyError: b", "")]


def test_one_without_an_end_hides_little() -> None:
    traces = Tracebacks()
    traces.step(1, START)
    assert traces.goes_on(2_000)
    assert not traces.goes_on(2_001)
    assert traces.step(2_002, "ValueError: of another one") is None
    assert not traces.active
