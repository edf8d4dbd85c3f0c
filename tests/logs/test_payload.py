"""Lines of patches and command output stay data, however much they look like log lines."""

from codex_skyrl.logs.payload import Payload, fits

RULE = "-" * 80


def hidden(payload: Payload, *lines: str) -> list[bool]:
    return [payload.step(number, line, False) for number, line in enumerate(lines)]


def test_a_patch_stands_between_two_rules() -> None:
    payload = Payload()
    payload.patch_announced()
    assert hidden(payload, RULE, "+instance id a__b-1, trajectory 0, step 1", RULE, "after") == [
        True,
        True,
        True,
        False,
    ]


def test_a_rule_without_an_announcement_opens_nothing() -> None:
    assert hidden(Payload(), RULE, "text") == [False, False]


def test_an_observation_stands_between_its_markers() -> None:
    payload = Payload()
    begin, end = "--BEGIN AGENT OBSERVATION--", "--END AGENT OBSERVATION--"
    assert hidden(payload, begin, "Total instances: 9", end, "Total instances: 4") == [True, True, True, False]


def test_a_header_of_the_same_process_ends_what_was_open() -> None:
    payload = Payload()
    payload.step(1, "--BEGIN AGENT OBSERVATION--", False)
    payload.header_seen()
    assert not payload.open


def test_a_marker_that_ray_folded_opens_nothing() -> None:
    payload = Payload()
    payload.step(1, "--BEGIN AGENT OBSERVATION--", True)
    assert not payload.open


def test_a_block_without_an_end_does_not_hide_the_rest() -> None:
    payload = Payload()
    payload.step(1, "--BEGIN AGENT OBSERVATION--", False)
    assert payload.step(200_000, "text", False)
    assert not payload.step(200_002, "text", False)
    assert not payload.open


def test_a_stamp_of_the_present_is_real() -> None:
    assert fits(100.0, 90.0)
    assert not fits(4000.0, 90.0)
    assert not fits(100.0, None)
