"""What is wrong with provider tables: wire, address, key, name. Inactive ones count where Codex refuses them too."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from codex_skyrl.context.redact import redact
from codex_skyrl.setup.codex import FIRST_WITHOUT_CHAT, Version
from codex_skyrl.setup.document import Document
from codex_skyrl.setup.effective import effective_of, provider_tables
from codex_skyrl.setup.finding import Finding, found
from codex_skyrl.text import Text

_ENDPOINTS = ("/chat/completions", "/responses", "/completions", "/models")
_OFFICIAL = ("api.openai.com", "chatgpt.com")
_PREFIXES = ("sk-", "sk_", "ghp_", "hf_", "eyJ", "Bearer ")


def provider_findings(
    document: Document, values: Mapping[str, Any], env: Mapping[str, str], codex: Version | None
) -> list[Finding]:
    """Faults of every provider table; address and key only of the active one and of those that name a key."""
    active = effective_of(values).provider
    findings: list[Finding] = []
    for name, table in provider_tables(values).items():
        path = ("model_providers", name)
        findings += _name(document, path, table)
        findings += _wire(document, path, table, codex)
        findings += _address(document, path, table, name == active)
        findings += _authentication(document, path, table, name == active)
        if name == active:
            findings += _key(document, path, table, env)
    return findings


def _name(document: Document, path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[Finding]:
    if not str(table.get("name") or "").strip() and any(k in table for k in ("base_url", "env_key", "wire_api")):
        what = Text(
            f"provider {path[1]!r} has no name; Codex refuses the whole file",
            f"provider {path[1]!r} 没有 name，Codex 会拒绝整个文件",
        )
        fix = Text('add name = "..."', '添加 name = "..."')
        yield found(document, "provider_name_empty", "error", (*path, "name") if "name" in table else path, what, fix)


def _wire(
    document: Document, path: tuple[str, ...], table: Mapping[str, Any], codex: Version | None
) -> Iterator[Finding]:
    wire = table.get("wire_api")
    where = (*path, "wire_api")
    if wire == "chat" and (codex is None or codex >= FIRST_WITHOUT_CHAT):
        what = Text(
            'wire_api = "chat" makes Codex 0.95 and newer refuse to start, even when this provider is not the active one',
            'wire_api = "chat" 会让 Codex 0.95 及更新版本拒绝启动，即使它不是当前使用的 provider',
        )
        fix = Text(
            'set wire_api = "responses" if the gateway has /responses (codex-skyrl setup finds out)',
            '若网关支持 /responses，改为 wire_api = "responses"（codex-skyrl setup 会探测）',
        )
        yield found(document, "wire_api_chat_removed", "error", where, what, fix)
    elif wire not in (None, "responses", "chat"):
        what = Text(
            f"wire_api = {str(wire)[:40]!r} is no wire Codex knows",
            f"wire_api = {str(wire)[:40]!r} 不是 Codex 认识的取值",
        )
        yield found(document, "wire_api_unknown", "error", where, what, Text('use "responses"', '请用 "responses"'))


def _address(document: Document, path: tuple[str, ...], table: Mapping[str, Any], active: bool) -> Iterator[Finding]:
    url, where = table.get("base_url"), (*path, "base_url")
    if not isinstance(url, str) or not url.strip():
        if active:
            what = Text(
                f"provider {path[1]!r} has no base_url: Codex would talk to api.openai.com",
                f"provider {path[1]!r} 没有 base_url：Codex 会去连 api.openai.com",
            )
            yield found(document, "base_url_missing", "error", path, what, Text("add base_url", "添加 base_url"))
        return
    parts = urlsplit(url.strip())
    bare = f"{parts.scheme}://{parts.netloc}{parts.path}"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        what = Text("base_url must begin with https:// (or http://)", "base_url 必须以 https://（或 http://）开头")
        yield found(
            document, "base_url_no_scheme", "error", where, what, Text("write the whole address", "写完整的地址")
        )
        return
    if parts.query or parts.fragment:
        what = Text(
            "base_url carries a query: Codex appends /responses behind it, so the path is lost",
            "base_url 带有查询串：Codex 会把 /responses 接在它后面，路径就丢了",
        )
        yield found(
            document, "base_url_has_query", "error", where, what, Text(f"write {redact(bare)}", f"写成 {redact(bare)}")
        )
    ending = next((e for e in _ENDPOINTS if parts.path.rstrip("/").endswith(e)), None)
    if ending is not None:
        base = bare.rstrip("/").removesuffix(ending)
        what = Text(
            f"base_url is an endpoint ({ending}), not the base", f"base_url 写成了接口地址（{ending}），而不是基址"
        )
        yield found(
            document,
            "base_url_is_endpoint",
            "error",
            where,
            what,
            Text(f"write {redact(base)}", f"写成 {redact(base)}"),
        )
    elif "/v1/v1" in parts.path:
        what = Text("base_url has /v1 twice", "base_url 里有两个 /v1")
        yield found(document, "base_url_doubled_v1", "error", where, what, Text("keep one /v1", "只保留一个 /v1"))
    elif active and not parts.path.rstrip("/").endswith(("/v1", "/v1beta", "/v3", "/v4")):
        what = Text(
            "base_url does not end in /v1; most gateways want it there", "base_url 不以 /v1 结尾，而大多数网关需要它"
        )
        fix = Text("let codex-skyrl setup probe which one answers", "用 codex-skyrl setup 探测哪个地址可用")
        yield found(document, "base_url_missing_v1", "warning", where, what, fix)


def _authentication(
    document: Document, path: tuple[str, ...], table: Mapping[str, Any], active: bool
) -> Iterator[Finding]:
    headers = {str(h).lower() for key in ("http_headers", "env_http_headers") for h in _keys(table.get(key))}
    ways = [k for k in ("env_key", "experimental_bearer_token", "auth") if table.get(k)]
    ways += ["an Authorization header"] if "authorization" in headers else []
    host = urlsplit(str(table.get("base_url") or "")).hostname or ""
    local = host in ("localhost", "127.0.0.1", "::1")
    if table.get("requires_openai_auth") is True and host and host not in _OFFICIAL:
        what = Text(
            f"requires_openai_auth sends your official login to {host}",
            f"requires_openai_auth 会把你的官方登录发给 {host}",
        )
        fix = Text("remove it and use env_key", "删除它，改用 env_key")
        yield found(document, "official_login_to_third_party", "error", (*path, "requires_openai_auth"), what, fix)
    elif not ways and active and host and not local:
        what = Text(
            f"provider {path[1]!r} binds no key: Codex sends no Authorization at all (a 401 then says nothing about your key)",
            f"provider {path[1]!r} 没有绑定任何 key：Codex 根本不发送 Authorization（此时的 401 与你的 key 无关）",
        )
        fix = Text('add env_key = "TAOTOKEN_API_KEY"', '添加 env_key = "TAOTOKEN_API_KEY"')
        yield found(document, "no_auth_binding", "error", path, what, fix)
    if len(ways) > 1:
        severity = "error" if "auth" in ways else "warning"
        what = Text(f"several ways to authenticate: {', '.join(ways)}", f"同时有多种认证方式：{'、'.join(ways)}")
        fix = Text("keep one, best env_key", "只保留一种，最好是 env_key")
        yield found(document, "auth_conflict", "error" if severity == "error" else "warning", path, what, fix)


def _keys(table: object) -> list[str]:
    return [str(k) for k in table] if isinstance(table, dict) else []


def _key(
    document: Document, path: tuple[str, ...], table: Mapping[str, Any], env: Mapping[str, str]
) -> Iterator[Finding]:
    name, where = table.get("env_key"), (*path, "env_key")
    if not isinstance(name, str):
        return
    if name.startswith(_PREFIXES) or redact(name) != name or len(name) > 48:
        what = Text(
            "env_key holds a key itself; Codex prints it in its error messages",
            "env_key 里写的是 key 本身；Codex 会在报错里把它打印出来",
        )
        fix = Text(
            'revoke that key, write the NAME of a variable (env_key = "TAOTOKEN_API_KEY") and export the new key under it',
            '作废该 key，改写变量名（env_key = "TAOTOKEN_API_KEY"），再把新 key 导出到这个变量',
        )
        yield found(document, "env_key_is_a_secret", "error", where, what, fix)
        return
    if not name.strip() or name.startswith("$"):
        what = Text("env_key must be the bare name of a variable", "env_key 必须是变量名本身")
        yield found(document, "env_key_not_a_name", "error", where, what, Text("write it without $", "去掉 $"))
        return
    value = env.get(name)
    if value is None or not value.strip():
        state_en = "not set" if value is None else "set but empty"
        state_zh = "没有设置" if value is None else "已设置但为空"
        what = Text(f"{name} is {state_en} in this process", f"{name} 在当前进程中{state_zh}")
        fix = Text(
            "export it where this process reads it (login shell profile, environment.d, EnvironmentFile=) and start anew",
            "在该进程会读取的地方导出它（登录 shell 的 profile、environment.d、EnvironmentFile=），然后重新启动",
        )
        yield found(document, "env_key_empty_or_missing", "error", where, what, fix)
    elif value != value.strip() or value.lower().startswith("bearer ") or value[0] in "\"'":
        what = Text(
            f"the value of {name} has blanks, quotes or a Bearer prefix; it is sent as it is, or not at all",
            f"{name} 的值带有空白、引号或 Bearer 前缀；会原样发送，或根本不发送",
        )
        yield found(document, "env_key_padded", "error", where, what, Text("export the bare key", "只导出 key 本身"))
