"""SkyRL-v0 and OpenHands 0.25 lifecycle lines: logger records (stamped HH:MM:SS) and bare prints (no time).

Source of every form: `codeact.py` at the two published revisions of SkyRL-v0 and the OpenHands 0.25 fork it pins.
Matching is anchored at the start of the message, so the same words inside a patch or a quotation stay text.
"""

import re
from typing import NamedTuple

from codex_skyrl.logs.event import Kind, Lifecycle
from codex_skyrl.logs.formats import Parsed, Stamp

_RECORD = re.compile(r"(\d\d):(\d\d):(\d\d) - openhands:([A-Z]+): ([\w.]+):(\d+) - (.*)", re.DOTALL)
_HEADER = re.compile(r"(\d\d):(\d\d):(\d\d) - (?:ACTION|OBSERVATION|USER_ACTION|USER_OBSERVATION)\s*$")

_ID = r"(?P<i>\S+), traj(?:ectory)? (?P<t>\d+)"
_NUM = r"(?P<v>-?\d+(?:\.\d+)?)"


class Rule(NamedTuple):
    """A form of message; the numbers of its groups for instance, trajectory, value and text, 0 where it has none."""

    kind: Kind
    pattern: re.Pattern[str]
    instance: int
    trajectory: int
    value: int
    text: int


def _rule(kind: Kind, pattern: str) -> Rule:
    compiled = re.compile(pattern)
    return Rule(kind, compiled, *(compiled.groupindex.get(name, 0) for name in "itvx"))


# Grouped by the word a message starts with: one dictionary look-up decides which patterns are tried.
RULES: dict[str, list[Rule]] = {
    "instance": [_rule(Kind.TURN_STARTED, rf"instance id {_ID}, step {_NUM}$")],
    "Take": [_rule(Kind.REPLY_PARSED, r"Take action: ")],
    "Initializing": [_rule(Kind.INIT_STARTED, rf"Initializing runtime for instance {_ID}$")],
    "Successfully": [
        _rule(Kind.INIT_DONE, rf"Successfully initialized runtime for instance {_ID} in {_NUM} seconds$"),
        _rule(Kind.INIT_WORK_DONE, r"Successfully initialized runtime for instance (?P<i>[^\s,]+)$"),
        _rule(Kind.RUN_DONE, rf"Successfully completed instance {_ID} in {_NUM} ?s(?:econds)?$"),
        _rule(Kind.EVAL_DONE, rf"Successfully completed evaluating instance {_ID} in {_NUM} ?s(?:econds)?$"),
    ],
    "Failed": [
        _rule(Kind.INIT_WORK_FAILED, r"Failed to initialize runtime for instance (?P<i>[^\s:]+):(?P<x>.*)$"),
        _rule(
            Kind.EVAL_FAILED,
            r"Failed to evaluate traj (?P<t>\d+) for instance (?P<i>[^\s:]+):(?P<x>.*)$",
        ),
    ],
    "Error": [
        _rule(Kind.INIT_FAILED, r"Error initializing runtime for (?P<i>\S+), trajectory (?P<t>\d+):(?P<x>.*)$"),
        _rule(Kind.RUN_ERROR, r"Error running agent (?P<i>[^\s:]+):(?P<x>.*)$"),
        _rule(Kind.TURN_ERROR, r"Error in agent step:(?P<x>.*)$"),
    ],
    "[This": [
        _rule(
            Kind.RUN_FAILED,
            r"\[This line should not be reached!!\] Error running agent for "
            r"(?P<i>\S+), trajectory (?P<t>\d+):(?P<x>.*)$",
        )
    ],
    "Running": [_rule(Kind.RUN_STARTED, rf"Running agent for instance {_ID}$")],
    "Evaluating": [_rule(Kind.EVAL_STARTED, rf"Evaluating agent for instance {_ID}\b(?P<x>.*)$")],
    "Git": [_rule(Kind.PATCH_PRINTED, rf"Git patch for instance {_ID}:")],
    "BEGIN": [
        _rule(Kind.INIT_SCRIPT_STARTED, r"BEGIN Runtime Initialization Fn"),
        _rule(Kind.COMPLETION_STARTED, r"BEGIN Runtime Completion Fn"),
    ],
    "END": [
        _rule(Kind.INIT_SCRIPT_DONE, r"END Runtime Initialization Fn"),
        _rule(Kind.COMPLETION_DONE, r"END Runtime Completion Fn"),
    ],
    "Using": [_rule(Kind.SANDBOX_REQUESTED, r"Using instance container image: (?P<x>\S+?)\.? ")],
    "Build": [_rule(Kind.SANDBOX_BUILD, r"Build (?:initiated with ID|was rate limited)")],
    "Waiting": [
        _rule(
            Kind.REMAINING_TASKS,
            rf"Waiting for {_NUM} (?P<x>\(init: \d+, run: \d+, eval: \d+\)) remaining tasks to complete",
        )
    ],
    "Timeout": [_rule(Kind.STEP_TIMED_OUT, rf"Timeout reached: {_NUM} tasks did not finish within (?P<x>\d+ ?s)")],
    "Trimmed": [_rule(Kind.BATCH_TRIMMED, rf"Trimmed \S+ of samples in the batch of size {_NUM}$")],
    "Total": [_rule(Kind.BATCH_ANNOUNCED, rf"Total instances: {_NUM}$")],
    "max": [_rule(Kind.EVAL_WORKERS, rf"max eval parallel agents: +{_NUM}$")],
    "`max_eval_parallel_agents`": [
        _rule(Kind.EVAL_WORKERS, rf"`max_eval_parallel_agents` has not been set\..* i\.e\.? {_NUM}")
    ],
    "nodedup": [
        _rule(Kind.GENERATE_STARTED, rf"nodedup in generate seq .*get_rank\(\)={_NUM}(?P<x>.*)$"),
        _rule(Kind.GENERATE_FINISHED, rf"nodedup finish generate seq .*get_rank\(\)={_NUM}(?P<x>.*)$"),
    ],
    "resuming": [_rule(Kind.WEIGHTS_RESUMED, r"resuming memory occupation")],
    "RuntimeError:": [
        _rule(
            Kind.MAX_ITERATIONS,
            r"RuntimeError: Agent reached maximum iteration in headless mode\..*max iteration: (?P<v>\d+)",
        )
    ],
    "AgentStuckInLoopError:": [_rule(Kind.STUCK_IN_LOOP, r"AgentStuckInLoopError: ")],
    "Runtime": [_rule(Kind.SANDBOX_ERROR, r"Runtime failed to start(?P<x>.*)$")],
}

# Messages that carry the evaluator's own id: "[I, T] ...".
_EVALUATOR = re.compile(r"\[(?P<i>[^\s,\]]+), (?P<t>\d+)\] (?P<m>.*)", re.DOTALL)
EVALUATOR_RULES = [
    _rule(Kind.EVAL_POLLED, r"\[(?P<v>\d+(?:\.\d+)?)s\] Evaluation still running"),
    _rule(Kind.EVAL_PATCH_APPLIED, r">>>>> Applied Patch"),
    _rule(Kind.EVAL_TESTS_STARTED, r"Evaluation process started with PID"),
    _rule(Kind.EVAL_TESTS_DONE, r"Evaluation process completed after (?P<v>\d+(?:\.\d+)?(?:e-?\d+)?) seconds"),
    _rule(Kind.EVAL_GRADED, r"Grading answer"),
]

# Messages of a runtime session: "[runtime session_id=S runtime_id=R] ...". S is never tied to a trajectory.
_SESSION = re.compile(r"\[runtime session_id=(?P<s>\S+) runtime_id=(?P<r>[^\]]+)\] (?P<m>.*)", re.DOTALL)
SESSION_RULES: list[tuple[Kind, str]] = [
    (Kind.SANDBOX_CONNECTING, "Building remote runtime"),
    (Kind.SANDBOX_STARTED, "Runtime started"),
    (Kind.SANDBOX_WAITING, "Waiting for runtime to be alive"),
    (Kind.SANDBOX_READY, "Runtime is ready"),
    (Kind.SANDBOX_RETRY, "Runtime /alive failed"),
    (Kind.SANDBOX_RETRY, "Unknown pod status"),
    (Kind.SANDBOX_ERROR, "Unable to start runtime"),
    (Kind.SANDBOX_ERROR, "Runtime failed to start"),
    (Kind.SANDBOX_ERROR, "No response received within the timeout"),
]


# In its own dress a line holds " - openhands:"; the others are of prints, and of messages in another logger's dress.
HINTS: tuple[str, ...] = (
    " - openhands:", " - ACTION", " - OBSERVATION", "instance id ", ", trajectory ", "Take action: ", "Successfully ",
    "Failed to initialize runtime", "Failed to evaluate traj", "Error running agent", "Git patch for instance", "Total instances: ",
    "max eval parallel agents", "`max_eval_parallel_agents`", "nodedup ", "tasks to complete", "Timeout reached: ",
    "% of samples in the batch", "resuming memory occupation", "RuntimeError: Agent reached", "AgentStuckInLoopError",
    "Evaluation ",
)  # fmt: skip


def parse(text: str) -> Parsed | None:
    """Understand one line; a stamped record whose message means nothing to us is None (see `stamp_of`)."""
    record = _RECORD.match(text)
    if record is None:
        body = parse_message(text.removeprefix("INFO:").partition(".py:")[2] if text.startswith("INFO:/") else text)
        return Parsed(body) if body is not None else None
    body = parse_message(record[7])
    if body is None:
        return None
    if body.kind is Kind.SANDBOX_REQUESTED:
        # Init and eval print the same words; only the line number of codeact.py tells them apart.
        body = Lifecycle(body.kind, text=body.text, value=float(record[6]))
    return Parsed(body, _time_of_day(record))


def stamp_of(text: str) -> Stamp | None:
    """The time of any stamped OpenHands line, understood or not: it bounds the prints around it."""
    match = _RECORD.match(text) or _HEADER.match(text)
    return _time_of_day(match) if match else None


def parse_message(message: str) -> Lifecycle | None:
    """Understand a message without its header, as any logger may carry it; a cut character at its end is no matter."""
    message = message.rstrip(" \t\ufffd")
    if message.startswith("["):
        found = _bracketed(message)
        if found is not None:
            return found
    for rule in RULES.get(message.partition(" ")[0], ()):
        match = rule.pattern.match(message)
        if match:
            return _lifecycle(rule, match)
    return None


def _bracketed(message: str) -> Lifecycle | None:
    session = _SESSION.match(message)
    if session:
        rest = session["m"]
        for kind, start in SESSION_RULES:
            if rest.startswith(start):
                return Lifecycle(kind, instance=session["s"], text=rest if kind in TEXT_KEPT else session["r"])
        return None
    evaluator = _EVALUATOR.match(message)
    if evaluator:
        for rule in EVALUATOR_RULES:
            match = rule.pattern.match(evaluator["m"])
            if match:
                value = float(match[rule.value]) if rule.value else None
                return Lifecycle(rule.kind, evaluator["i"], int(evaluator["t"]), value)
    return None


TEXT_KEPT = {Kind.SANDBOX_ERROR, Kind.SANDBOX_RETRY}


def _lifecycle(rule: Rule, match: re.Match[str]) -> Lifecycle:
    kind, _, instance, trajectory, value, text = rule
    return Lifecycle(
        kind,
        match[instance] if instance else None,
        int(match[trajectory]) if trajectory else None,
        float(match[value]) if value else None,
        match[text].strip() if text else "",
    )


def _time_of_day(match: re.Match[str]) -> Stamp | None:
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return Stamp(hours * 3600.0 + minutes * 60 + seconds, dated=False, resolution=1.0)
