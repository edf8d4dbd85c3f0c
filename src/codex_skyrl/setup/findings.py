"""What is wrong with a configuration file as a whole: encoding, syntax, keys in the wrong place, which provider wins."""

from collections.abc import Iterator, Mapping
from typing import Any

from codex_skyrl.setup.codex import Version
from codex_skyrl.setup.document import Document, duplicates, syntax_problems
from codex_skyrl.setup.effective import BUILT_IN, effective_of, provider_tables
from codex_skyrl.setup.finding import Finding, found
from codex_skyrl.setup.provider_findings import provider_findings
from codex_skyrl.text import Text

# Root keys of Codex's configuration that people and installers append at the end of the file.
ROOT_KEYS = frozenset({
    "model", "model_provider", "model_reasoning_effort", "model_reasoning_summary", "model_verbosity", "approval_policy",
    "sandbox_mode", "profile", "preferred_auth_method", "disable_response_storage", "model_context_window",
    "model_max_output_tokens", "personality", "web_search", "openai_base_url",
})  # fmt: skip
_OWN_ROOM = ("profiles",)  # tables in which these keys are at home
RESERVED = ("openai", "ollama", "lmstudio")


def findings_of(
    document: Document, env: Mapping[str, str], codex: Version | None, ours: str = "taotoken"
) -> list[Finding]:
    """Everything wrong, the file's own faults first. `codex`: the installed version, None when unknown."""
    broken = [*_encoding(document), *_duplicates(document), *_syntax(document)]
    if document.values is None:
        return broken
    values = document.values
    return [
        *broken,
        *_misplaced_keys(document),
        *_misplaced_tables(document, values),
        *_reserved(document, values),
        *_profiles(document, values),
        *_selection(document, values, ours),
        *provider_findings(document, values, env, codex),
    ]


def _encoding(document: Document) -> Iterator[Finding]:
    if document.encoding_problem == "file_is_utf16":
        what = Text("the file is UTF-16; Codex reads UTF-8 only", "文件是 UTF-16 编码，而 Codex 只读 UTF-8")
        yield found(document, "file_is_utf16", "error", None, what, Text("save it as UTF-8", "另存为 UTF-8"), line=1)
    elif document.encoding_problem:
        what = Text("the file is not UTF-8", "文件不是 UTF-8 编码")
        yield found(
            document, document.encoding_problem, "error", None, what, Text("save it as UTF-8", "另存为 UTF-8"), line=1
        )
    for number, line in enumerate(document.text.split("\n"), 1):
        if "\ufeff" in line:
            what = Text("a byte order mark stands inside the file", "文件中间有一个 BOM（字节顺序标记）")
            fix = Text("delete the invisible character at the start of this line", "删除该行开头的不可见字符")
            yield Finding("bom_inside_file", "error", str(document.path), number, line.index("\ufeff") + 1, what, fix)


def _duplicates(document: Document) -> Iterator[Finding]:
    if document.values is not None or document.encoding_problem:
        return
    for twice in duplicates(document):
        name, lines = ".".join(twice.path), ", ".join(map(str, twice.lines))
        what = Text(f"{name} is defined more than once, at lines {lines}", f"{name} 重复定义，在第 {lines} 行")
        fix = Text("keep one of them; nothing is merged for you", "只保留其中一个；工具不会替你合并")
        yield found(document, "duplicate_definition", "error", None, what, fix, line=twice.lines[0])


def _syntax(document: Document) -> Iterator[Finding]:
    for problem in syntax_problems(document):
        if "byte order mark" in problem.reason:
            continue
        text = document.text.split("\n")[problem.line - 1].rstrip("\r") if document.text else ""
        what = Text(
            f"{problem.reason}\n    {text}\n    {_caret(text, problem.column)}",
            f"{problem.reason}\n    {text}\n    {_caret(text, problem.column)}",
        )
        mended = problem.mended
        fix = (
            Text(f"probably meant: {mended}", f"可能应为：{mended}")
            if mended
            else Text("mend the line; nothing was changed", "请修正这一行；文件未被改动")
        )
        yield Finding("toml_syntax", "error", str(document.path), problem.line, problem.column, what, fix)


def _caret(text: str, column: int) -> str:
    return "".join("\t" if c == "\t" else " " for c in text[: column - 1]) + "^"


def _misplaced_keys(document: Document) -> Iterator[Finding]:
    """Root keys below a table header belong to that table, and Codex ignores them there."""
    known: dict[tuple[str, ...], list[int]] = {}
    names: dict[tuple[str, ...], list[str]] = {}
    for s in document.scan.statements:
        inside = s.kind == "key" and s.table and s.table[0] not in _OWN_ROOM and len(s.path) == len(s.table) + 1
        at_home = s.table[:1] == ("model_providers",) and s.path[-1] not in ("model_provider", "model")
        if inside and s.path[-1] in ROOT_KEYS and not at_home and s.table[0] != "features":
            known.setdefault(s.table, []).append(s.line)
            names.setdefault(s.table, []).append(s.path[-1])
    for table, lines in known.items():
        keys, where = ", ".join(names[table]), ".".join(table)
        shown = ", ".join(map(str, lines))
        what = Text(
            f"{keys} (line {shown}) stand inside [{where}] and are ignored there",
            f"{keys}（第 {shown} 行）落在 [{where}] 表内，会被忽略",
        )
        fix = Text("move them above the first table header", "把它们移到第一个表头之前")
        yield found(document, "root_key_inside_table", "error", None, what, fix, line=lines[0])


def _misplaced_tables(document: Document, values: Mapping[str, Any]) -> Iterator[Finding]:
    """A provider's table one level off: [taotoken] or [model_provider.taotoken]."""
    for name, table in values.items():
        if name == "model_provider" and isinstance(table, dict):
            for inner in table:
                yield _level(document, (name, inner), inner)
        elif (
            name not in ("model_providers",) and isinstance(table, dict) and "base_url" in table and "wire_api" in table
        ):
            yield _level(document, (name,), name)


def _level(document: Document, path: tuple[str, ...], name: str) -> Finding:
    what = Text(f"[{'.'.join(path)}] defines no provider", f"[{'.'.join(path)}] 并没有定义 provider")
    fix = Text(f"write [model_providers.{name}]", f"应写成 [model_providers.{name}]")
    return found(document, "provider_table_misplaced", "error", path, what, fix)


def _reserved(document: Document, values: Mapping[str, Any]) -> Iterator[Finding]:
    for name in provider_tables(values):
        if name in RESERVED:
            what = Text(
                f"{name!r} is a built-in provider and cannot be redefined", f"{name!r} 是内置 provider，不能重新定义"
            )
            fix = Text(f"rename it, for example {name}-custom", f"请改名，例如 {name}-custom")
            yield found(document, "reserved_provider_id", "error", ("model_providers", name), what, fix)


def _profiles(document: Document, values: Mapping[str, Any]) -> Iterator[Finding]:
    if isinstance(values.get("profile"), str):
        what = Text(
            "the root key profile is no longer supported; Codex refuses to start",
            "根键 profile 已不受支持，Codex 会拒绝启动",
        )
        fix = Text(
            "delete it and use: codex --profile NAME with NAME.config.toml",
            "删除它，改用 codex --profile NAME 和 NAME.config.toml",
        )
        yield found(document, "legacy_profile_selector", "error", ("profile",), what, fix)


def _selection(document: Document, values: Mapping[str, Any], ours: str) -> Iterator[Finding]:
    """Which provider is used, against which one is defined."""
    now, tables = effective_of(values), provider_tables(values)
    if now.provider != BUILT_IN and now.provider not in tables and now.provider not in RESERVED:
        yield _not_found(document, values, now.provider)
    elif ours in tables and now.provider != ours:
        what = Text(
            f"provider {ours} is defined, but {now.provider} is used ({now.decided_by.en})",
            f"已定义 provider {ours}，但实际使用的是 {now.provider}（{now.decided_by.zh}）",
        )
        fix = Text(
            f'set model_provider = "{ours}" above the first table', f'在第一个表之前设置 model_provider = "{ours}"'
        )
        yield found(document, "old_provider_active", "warning", ("model_provider",), what, fix)


def _not_found(document: Document, values: Mapping[str, Any], name: str) -> Finding:
    fix = Text(
        f"add [model_providers.{name}], or name an existing one",
        f"添加 [model_providers.{name}]，或改用已有的 provider",
    )
    first, dot, rest = name.partition(".")
    inner = provider_tables(values).get(first)
    if dot and inner is not None and rest in inner:
        fix = Text(
            f'[model_providers.{name}] defines provider "{first}" with a sub-table "{rest}"; quote it: [model_providers."{name}"]',
            f'[model_providers.{name}] 定义的是 provider "{first}" 及其子表 "{rest}"；请加引号：[model_providers."{name}"]',
        )
    alike = next((other for other in provider_tables(values) if other.lower() == name.lower()), None)
    if alike is not None:
        fix = Text(f"ids are case-sensitive: it is called {alike!r} here", f"id 区分大小写：这里定义的是 {alike!r}")
    what = Text(
        f"model_provider names {name!r}, which no table defines", f"model_provider 指向 {name!r}，但没有任何表定义它"
    )
    return found(document, "provider_id_not_found", "error", ("model_provider",), what, fix)


def project_findings(document: Document) -> list[Finding]:
    """A project's own `.codex/config.toml`: Codex never takes a provider from it, trusted or not."""
    keys = [k for k in ("model_provider", "model_providers") if document.values is not None and k in document.values]
    if not keys:
        return []
    named = " and ".join(keys)
    what = Text(f"{named} in a project's file are ignored by Codex", f"项目文件里的 {named} 会被 Codex 忽略")
    fix = Text("set them in the user's configuration (codex-skyrl setup)", "请写在用户配置里（codex-skyrl setup）")
    return [found(document, "project_provider_ignored", "info", (keys[0],), what, fix)]
