"""The regular expressions of all events that are told by lines, as ripgrep takes them: one a line, not anchored at line starts."""

import re

from codex_skyrl.logs.formats.lifecycle import EVALUATOR_RULES, RULES, SESSION_RULES

_EVALUATOR, _SESSION = r"\[[^\s,\]]+, \d+\] ", r"\[runtime session_id=\S+ runtime_id=[^\]]+\] "
_OTHERS = (
    r"\d\d:\d\d:\d\d - (?:ACTION|OBSERVATION|USER_ACTION|USER_OBSERVATION)\s*$",
    r"(?:Decode|Prefill) batch[.,] .*#running-req: \d+",
    r"Retract requests\..*#retracted_reqs: \d+",
    r"Avg prompt throughput: \d+(?:\.\d+)? tokens/s, Avg generation throughput",
    r"step:\d+ - \S+:",
    r"\d+%\|[^|]*\|\s*\d+/\d+ \[",
    r"(?:init|run|eval)_queue\S*\s*[=:]\s*\d+",
    r"Traceback \(most recent call last\):",
    r"\d\d:\d\d:\d\d - remote_runtime_server:[A-Z]+: ",
    r' - "(?:GET|POST) \S+ HTTP/[\d.]+" \d{3}',
)


def event_regexes() -> list[str]:
    """Patterns in the syntax that Python and ripgrep share."""
    rules = [rule.pattern.pattern for rules in RULES.values() for rule in rules]
    rules += [_EVALUATOR + rule.pattern.pattern for rule in EVALUATOR_RULES]
    rules += [_SESSION + re.escape(start).replace(r"\ ", " ") for _, start in SESSION_RULES]
    return [re.sub(r"\(\?P<\w>", "(?:", rule).replace("(?:.*)$", "") for rule in (*rules, *_OTHERS)]
