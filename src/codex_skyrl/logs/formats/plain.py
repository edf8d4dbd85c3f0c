"""The lifecycle messages that come by the million, as one pattern over bytes: what `lifecycle.parse_message` says of them, quicker.

Built from that format's own rules. A message it does not match may still mean something.
"""

import re

from codex_skyrl.logs.event import Kind
from codex_skyrl.logs.formats.lifecycle import EVALUATOR_RULES, RULES, SESSION_RULES, TEXT_KEPT, Rule


def _whole(pattern: str) -> str:
    return re.sub(r"\(\?P<\w>", "(", pattern)


class _Alternatives:
    """Collects forms; the last group of each tells which one it was, and that is where its message may go on."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.rules: dict[int | None, Rule] = {}
        self._groups = 0

    def add(self, rule: Rule, pattern: str) -> None:
        """A form by itself."""
        before, self._groups = self._groups, self._groups + re.compile(pattern).groups + 1
        self.rules[self._groups] = Rule(
            rule.kind,
            rule.pattern,
            *(n and n + before for n in (rule.instance, rule.trajectory, rule.value, rule.text)),
        )
        self.parts.append(f"{_whole(pattern)}()")

    def add_under(self, head: str, rules: list[Rule]) -> None:
        """Forms that begin alike: `head` with its groups, then the pattern of one of the rules."""
        shared = re.compile(head).groups
        endings: list[str] = []
        first = self._groups
        self._groups += shared
        for rule in rules:
            own = rule.pattern.groups
            instance, trajectory, text = (n and n + first for n in (rule.instance, rule.trajectory, rule.text))
            value = rule.value and rule.value + self._groups
            self._groups += own + 1
            self.rules[self._groups] = Rule(rule.kind, rule.pattern, instance, trajectory, value, text)
            endings.append(f"{_whole(rule.pattern.pattern)}()")
        self.parts.append(f"{_whole(head)}(?:{'|'.join(endings)})")


def _collected() -> _Alternatives:
    found = _Alternatives()
    for rule in (rule for rules in RULES.values() for rule in rules):
        pattern = rule.pattern.pattern
        if rule.kind is Kind.EVAL_STARTED:
            found.add(rule._replace(text=0), pattern.removesuffix(r"\b(?P<x>.*)$") + "$")
        elif not rule.text or rule.kind is Kind.SANDBOX_REQUESTED:
            found.add(rule, pattern)
    evaluator = [rule._replace(instance=1, trajectory=2) for rule in EVALUATOR_RULES]
    found.add_under(r"\[([^\s,\]]+), (\d+)\] ", evaluator)
    sessions = [Rule(kind, re.compile(start), 1, 0, 0, 2) for kind, start in SESSION_RULES if kind not in TEXT_KEPT]
    found.add_under(r"\[runtime session_id=(\S+) runtime_id=([^\]]+)\] ", sessions)
    return found


_FOUND = _collected()
PLAIN = re.compile("|".join(_FOUND.parts).encode())
# By the number of the match's last group: the kind, and the numbers of the groups for instance, trajectory, value and text.
RULE_OF = _FOUND.rules
FIRST_WORDS = frozenset(word.encode() for word in RULES)  # with "[": how every message begins that means something
