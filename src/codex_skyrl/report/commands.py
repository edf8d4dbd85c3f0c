"""Whether a shell command only looks: a model's commands are shown to people who may paste them.

Only programs that are known to read are let through, and of those only their reading forms; what is not known is not
called read-only. Nothing is ever run from here.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from codex_skyrl.text import Text

_Words = Sequence[str]

# programs that cannot change anything, whatever their options
_READERS = frozenset(
    [
        "awk",
        "cat",
        "column",
        "cut",
        "date",
        "df",
        "diff",
        "dmesg",
        "du",
        "echo",
        "egrep",
        "expr",
        "fgrep",
        "file",
        "free",
        "grep",
        "gzcat",
        "head",
        "hostname",
        "id",
        "iostat",
        "jq",
        "less",
        "ls",
        "lsblk",
        "lscpu",
        "lsof",
        "mpstat",
        "nl",
        "nproc",
        "paste",
        "pgrep",
        "pidstat",
        "printf",
        "ps",
        "pwd",
        "rg",
        "sar",
        "seq",
        "sha256sum",
        "sleep",
        "sort",
        "ss",
        "stat",
        "strings",
        "tac",
        "tail",
        "test",
        "tr",
        "tree",
        "true",
        "uname",
        "uniq",
        "uptime",
        "vmstat",
        "w",
        "wc",
        "which",
        "xz",
        "zcat",
        "zgrep",
        "zstdcat",
        "codex-skyrl",
        "numfmt",
        "comm",
        "join",
    ]
)
_Rule = Callable[[_Words], bool]


def _first_in(*allowed: str) -> _Rule:
    """The first word that is no option is one of these."""
    return lambda words: next((w for w in words if not w.startswith("-")), "") in allowed


def _without(*forbidden: str) -> _Rule:
    return lambda words: not any(w == f or w.startswith(f"{f}=") for w in words for f in forbidden)


def _kubectl(words: _Words) -> bool:
    verbs = [w for w in words if not w.startswith("-") and "=" not in w]
    read = {"get", "describe", "logs", "top", "version", "api-resources", "cluster-info", "explain", "events"}
    return bool(verbs) and any(v in read for v in verbs[:3]) and not _KUBECTL_WRITES.intersection(verbs[:4])


_KUBECTL_WRITES = frozenset(
    [
        "delete",
        "apply",
        "create",
        "edit",
        "patch",
        "replace",
        "scale",
        "drain",
        "cordon",
        "uncordon",
        "taint",
        "label",
        "annotate",
        "exec",
        "cp",
        "rollout",
        "set",
        "run",
        "expose",
    ]
)


_CURL_WRITES = ("-X", "--request", "-d", "-F", "--form", "-T", "--upload-file", "-O", "--remote-name", "-K", "--config")


def _curl(words: _Words) -> bool:
    """A plain GET to the terminal or to /dev/null."""
    for at, word in enumerate(words):
        if word in ("-o", "--output"):
            if list(words[at + 1 : at + 2]) != ["/dev/null"]:
                return False
        elif word.startswith(("--data", "--json")) or any(word.startswith(w) for w in _CURL_WRITES):
            return False
    return True


def _find(words: _Words) -> bool:
    return not any(w in ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls") for w in words)


def _sed(words: _Words) -> bool:
    inplace = any(w.startswith(("-i", "--in-place")) for w in words)
    return not inplace and not any(
        re.search(r"(?:^|[;/\d$}\s])[we]\s*(?:/|\w|$)", w) for w in words if not w.startswith("-")
    )


def _python(words: _Words) -> bool:
    return list(words[:2]) == ["-m", "json.tool"] and len(words) == 2


_GUARDED: dict[str, _Rule] = {
    "kubectl": _kubectl,
    "docker": _first_in("ps", "logs", "stats", "images", "inspect", "info", "version", "events", "top", "history"),
    "podman": _first_in("ps", "logs", "stats", "images", "inspect", "info", "version", "events", "top"),
    "crictl": _first_in("ps", "pods", "images", "info", "stats", "inspect", "inspecti", "logs", "imagefsinfo"),
    "nerdctl": _first_in("ps", "logs", "stats", "images", "inspect", "info"),
    "nvidia-smi": _without("-r", "--gpu-reset", "-pm", "-pl", "-lgc", "-rgc", "-ac", "-rac", "-e", "-c", "-mig", "--persistence-mode", "--power-limit"),
    "ray": _first_in("status", "list", "memory", "summary", "logs", "timeline", "debug"),
    "git": _first_in("log", "status", "diff", "show", "grep", "blame", "rev-parse", "ls-files"),
    "journalctl": lambda words: not any(w.startswith(("--vacuum", "--rotate", "--flush", "--sync")) for w in words),
    "systemctl": _first_in("status", "show", "is-active", "list-units"),
    "py-spy": _first_in("dump", "top"),
    "top": _without("k"),
    "find": _find,
    "sed": _sed,
    "gawk": lambda words: True,
    "gzip": lambda words: any(w in ("-dc", "-cd", "-l", "-t") for w in words),
    "zstd": lambda words: any(w in ("-dc", "-cd", "-l", "-t") for w in words),
    "curl": _curl,
    "xargs": lambda words: _only_reads([w for w in words if not w.startswith("-")] or ["cat"]),
    "time": lambda words: _only_reads(list(words) or ["true"]),
    "timeout": lambda words: _only_reads([w for w in words if not re.fullmatch(r"-.*|\d+[smh]?", w)] or ["true"]),
    "nice": lambda words: _only_reads([w for w in words if not re.fullmatch(r"-.*|\d+", w)] or ["true"]),
    "watch": lambda words: _only_reads([w for w in words if not re.fullmatch(r"-.*|\d+", w)] or ["true"]),
    "python": _python,
    "python3": _python,
}  # fmt: skip
PROGRAMS = _READERS | _GUARDED.keys()

_OPERATORS = {"|", "||", "&&", ";", "|&"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
# in running text: what nobody should paste, whether or not it is marked as a command
_DANGEROUS = re.compile(
    r"\brm\s+-|\brm\s+[\w./*~-]*/|\bsudo\s|\bkill(?:all)?\s+-?\w*\d|\bpkill\s|\bkillall\s|\bmkfs|\bdd\s+if=|\bshutdown\b\s*-|\breboot\b$|"
    r"\b(?:kubectl|oc)\s+(?:-n\s+\S+\s+)?(?:delete|drain|cordon|scale|apply|patch|edit|exec|rollout)\b|\bdocker\s+(?:rm|rmi|kill|stop|restart|prune|system\s+prune|"
    r"volume\s+\w+|image\s+prune|exec|run)\b|\bcrictl\s+(?:rm|rmi|stop|rmp|stopp)\w*\b|\bray\s+(?:stop|down|kill)\b|\bgit\s+(?:reset|clean|push|checkout|stash)\b|"
    r"\b(?:curl|wget)\b[^|\n]*\|\s*(?:ba|z)?sh\b|\bsystemctl\s+(?:restart|stop|start|disable|mask)\b|\bpip\s+(?:un)?install\b|\bchmod\s+\S|\bchown\s+\S|"
    r"\btruncate\s+-|\biptables\b|\bsysctl\s+-w\b|\bcrontab\s+-|:\(\)\s*\{|\bmv\s+/|>\s*/(?!dev/null)\w|\bnvidia-smi\s+(?:-r|--gpu-reset|-pl)\b|\bhelm\s+(?:un)?install\b"
)  # fmt: skip


def problem_of_command(command: str) -> Text | None:
    """Why a command is not known to be read-only; None when it is."""
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:
        return Text(f"is no complete command: {command}", f"不是完整的命令：{command}")
    if not words:
        return Text("is no command", "不是命令")
    if re.search(r"`|\$\(|<\(|>\(", _outside_single_quotes(command)):
        return Text(f"runs a command inside another one: {command}", f"命令里又执行命令：{command}")
    for simple in _simple_commands(words):
        if not _only_reads(simple):
            return Text(f"is not known to be read-only: {' '.join(simple)}", f"不能确认是只读命令：{' '.join(simple)}")
    return None


def dangerous_in(text: str) -> str | None:
    """A destructive command in running text; None when there is none."""
    found = _DANGEROUS.search(text)
    return found[0].strip() if found else None


def commands_in(text: str) -> list[str]:
    """Code spans and `$` lines of a text that begin with a program."""
    spans = re.findall(r"`([^`\n]+)`", text) + re.findall(r"(?m)^\s*\$ (.+)$", text)
    return [s for s in spans if " " in s.strip() and s.split()[0] in PROGRAMS]


def _outside_single_quotes(command: str) -> str:
    return re.sub(r"'[^']*'", "''", command)


def _simple_commands(words: list[str]) -> Iterator[list[str]]:
    own: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word in _OPERATORS:
            yield own
            own = []
        elif word in (">", ">>", "2>", "&>", ">&", "<"):
            target = words[at + 1] if at + 1 < len(words) else ""
            skip = True
            harmless = word == "<" or target in ("/dev/null", "&1", "1", "2")
            if own and own[-1] in ("1", "2"):
                own.pop()
            if not harmless:
                yield ["write", target]
        else:
            own.append(word)
    yield own


def _only_reads(words: Sequence[str]) -> bool:
    rest = list(words)
    while rest and _ASSIGNMENT.fullmatch(rest[0]):
        rest.pop(0)
    if not rest:
        return False
    program, arguments = rest[0].rpartition("/")[2], rest[1:]
    if program == "awk":
        return not any(re.search(r"system\s*\(|>\s*\"|\|\s*\"|getline", w) for w in arguments)
    if program == "sort":
        return not any(w == "-o" or w.startswith("--output") for w in arguments)
    if program in ("tee", "xz") and arguments:
        return program == "xz" and any(w in ("-dc", "-cd", "-l", "-t") for w in arguments)
    if program in _READERS:
        return True
    guard = _GUARDED.get(program)
    return guard is not None and guard(arguments)
