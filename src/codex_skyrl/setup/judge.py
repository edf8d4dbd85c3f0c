"""What one HTTP answer of a gateway means: body and content type before status. Pure; shows at most 200 characters.

Classes of public gateways and CDNs; each has one sentence and the next step.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codex_skyrl.context.redact import redact
from codex_skyrl.llm.reading import error_text, read_reply
from codex_skyrl.text import Text

Endpoint = Literal["models", "responses", "chat"]
_SHOWN = 200
_NOT_SERVED = (
    "无可用渠道",
    "no available channel",
    "model_not_found",
    "does not exist",
    "unknown model",
    "invalid model",
)
_NO_MODEL = ("for model in group", "对于模型 无可用")
_QUOTA = ("insufficient_quota", "quota", "balance", "余额", "额度", "billing")
_BUSY = ("upstream", "overloaded", "busy", "负载", "capacity", "saturat")
_NO_KEY = ("missing", "no api key", "not provided", "未提供", "authorization header", "no key")


@dataclass(frozen=True, slots=True)
class Judged:
    """`kind` is stable; `ok`: the endpoint did what was asked. `retry`: asking again may help."""

    kind: str
    ok: bool
    what: Text
    fix: Text
    retry: bool = False
    status: int | None = None


def judge(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, model: str = "") -> Judged:
    """Name an answer. `headers` with lower-case names."""
    text = body.decode("utf-8", errors="replace").lstrip("\ufeff \r\n\t")
    page = text[:1] == "<" or "text/html" in headers.get("content-type", "")
    cdn = _cdn(status, headers, text) if page or "cloudflare" in headers.get("server", "") else None
    if cdn is not None:
        return cdn
    if 300 <= status < 400:
        return _made(
            "redirected",
            status,
            f"it redirects (status {status}); the key is not sent along",
            f"它要求重定向（状态 {status}）；key 不会随之发送",
            "use the final address as base URL",
            "把最终地址写成 base_url",
        )
    if page:
        return _made(
            "web_page",
            status,
            "a web page comes back, not the API",
            "返回的是网页，不是 API",
            "the path is wrong: try the base URL with /v1",
            "路径不对：试试带 /v1 的 base_url",
        )
    error = _error(text)
    if error is not None or status >= 400:
        return _failure(endpoint, status, error if error is not None else text, model)
    return _models(status, text) if endpoint == "models" else _answer(endpoint, status, body)


def model_ids(body: bytes) -> list[str]:
    """Ids of a /models answer; empty when it is none."""
    try:
        listed = json.loads(body)
    except ValueError:
        return []
    data = listed.get("data") if isinstance(listed, dict) else listed
    return [str(m["id"]) for m in data if isinstance(m, dict) and m.get("id")] if isinstance(data, list) else []


def _cdn(status: int, headers: Mapping[str, str], text: str) -> Judged | None:
    ray = headers.get("cf-ray", "")
    said_en, said_zh = (f" (cf-ray {ray})", f"（cf-ray {ray}）") if ray else ("", "")
    if headers.get("cf-mitigated") == "challenge" or "Just a moment" in text[:400]:
        return _made(
            "cdn_challenge",
            status,
            f"a bot check stands in front of the API{said_en}",
            f"API 前面有人机验证{said_zh}",
            "ask the gateway to exempt its API paths",
            "请网关方对 API 路径放行",
        )
    if status == 403 and ("block" in text[:800] or "cloudflare" in headers.get("server", "")) and text[:1] == "<":
        return _made(
            "cdn_block",
            status,
            f"the CDN blocks this address{said_en}",
            f"CDN 屏蔽了本机地址{said_zh}",
            "use another network, or ask the gateway",
            "换一个网络，或联系网关方",
        )
    if status == 524:
        return _made(
            "edge_timeout",
            status,
            f"the edge gave up waiting{said_en}",
            f"边缘节点等待超时{said_zh}",
            "stream the answer, or try later",
            "使用流式输出，或稍后再试",
            retry=True,
        )
    if 520 <= status <= 527:
        return _made(
            "origin_error",
            status,
            f"the gateway's own server is not reachable for its CDN{said_en}",
            f"CDN 连不上网关自己的服务器{said_zh}",
            "try again in a minute",
            "过一分钟再试",
            retry=True,
        )
    return None


def _failure(endpoint: Endpoint, status: int, error: object, model: str) -> Judged:
    said = redact(error_text(error))[:_SHOWN]
    lowered = f"{said} {_code(error)}".lower()
    if status in (401, 403):
        if any(word in lowered for word in _NO_KEY):
            return _made(
                "key_missing",
                status,
                f"no key arrived: {said}",
                f"没有收到 key：{said}",
                "bind env_key and export the variable",
                "绑定 env_key 并导出变量",
            )
        return _made(
            "key_refused",
            status,
            f"the key is refused: {said}",
            f"key 被拒绝：{said}",
            "check the key on the gateway's console",
            "到网关控制台检查 key",
        )
    if any(words in lowered for words in _NO_MODEL):
        return _made(
            "request_had_no_model",
            status,
            "the request named no model",
            "请求里没有模型名",
            "give --model",
            "请指定 --model",
        )
    if any(word in lowered for word in _NOT_SERVED):
        return _made(
            "model_not_served",
            status,
            f"model {model!r} is not served for this key: {said}",
            f"该 key 无法使用模型 {model!r}：{said}",
            "choose one of /models; effort belongs in model_reasoning_effort",
            "从 /models 里选一个；推理强度应写在 model_reasoning_effort",
        )
    if status == 429:
        return _limited(status, said, lowered)
    if status == 402 or any(word in lowered for word in _QUOTA[:2]):
        return _made(
            "quota_used_up",
            status,
            f"the account's quota is used up: {said}",
            f"账户额度已用完：{said}",
            "top it up",
            "请充值",
        )
    if status in (404, 405, 501):
        return _made(
            "no_endpoint",
            status,
            f"there is no /{_path(endpoint)} here (status {status})",
            f"这里没有 /{_path(endpoint)}（状态 {status}）",
            "try the base URL with or without /v1",
            "试试带或不带 /v1 的 base_url",
        )
    if status < 400:
        return _made(
            "late_error",
            status,
            f"an error inside a 200 answer: {said}",
            f"200 响应里带着错误：{said}",
            "see what it says",
            "请看错误内容",
        )
    if status < 500:
        return _made(
            "bad_request",
            status,
            f"the request is refused (status {status}): {said}",
            f"请求被拒绝（状态 {status}）：{said}",
            "see what it says",
            "请看错误内容",
        )
    return _made(
        "server_error",
        status,
        f"the gateway fails (status {status}): {said}",
        f"网关出错（状态 {status}）：{said}",
        "try again in a minute",
        "过一分钟再试",
        retry=True,
    )


def _limited(status: int, said: str, lowered: str) -> Judged:
    if any(word in lowered for word in _QUOTA):
        return _made(
            "quota_used_up",
            status,
            f"the account's quota is used up: {said}",
            f"账户额度已用完：{said}",
            "top it up",
            "请充值",
        )
    if "404" in lowered or "not found" in lowered:
        return _made(
            "wrapped_not_found",
            status,
            f"a 404 wrapped in a 429: {said}",
            f"被包装成 429 的 404：{said}",
            "check model and path",
            "检查模型名和路径",
        )
    if any(word in lowered for word in _BUSY):
        return _made(
            "upstream_busy",
            status,
            f"the provider behind the gateway is busy: {said}",
            f"网关背后的服务繁忙：{said}",
            "try again in a minute",
            "过一分钟再试",
            retry=True,
        )
    return _made(
        "rate_limited",
        status,
        f"requests come too fast: {said}",
        f"请求过于频繁：{said}",
        "wait as long as it says",
        "按提示等待",
        retry=True,
    )


def _models(status: int, text: str) -> Judged:
    if model_ids(text.encode()):
        return _made("ok", status, "models are listed", "已列出模型", "", "", ok=True)
    return _made(
        "no_model_list",
        status,
        "the answer lists no models",
        "响应中没有模型列表",
        "name the model yourself",
        "请自行指定模型",
    )


def _answer(endpoint: Endpoint, status: int, body: bytes) -> Judged:
    reply = read_reply(body)
    if not (reply.text or reply.reasoning or reply.truncated or reply.called):
        return _made(
            "not_the_api",
            status,
            "the answer is not in the API's form",
            "响应不是该 API 的格式",
            "check the base URL",
            "检查 base_url",
        )
    if not reply.ended:
        return _made(
            "cut_off",
            status,
            "the stream breaks off before its end",
            "流在结束前中断",
            "try again; then ask the gateway",
            "重试；若仍如此请联系网关方",
            retry=True,
        )
    if endpoint == "responses" and b"response.completed" not in body and b"response.incomplete" not in body:
        return _made(
            "no_stream",
            status,
            "the answer is whole, but not the event stream that Codex needs",
            "有完整响应，但不是 Codex 需要的事件流",
            "the gateway must stream /responses",
            "网关需要支持 /responses 的流式输出",
        )
    return _made("ok", status, "it answers", "可用", "", "", ok=True)


def _error(text: str) -> object | None:
    """The error an answer carries, in any shape: a whole body or an event of a stream."""
    for piece in [text, *re.findall(r"^data: ?(\{.*\})\s*$", text, re.MULTILINE)]:
        try:
            record = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and record.get("error"):
            return record
        if isinstance(record, dict) and record.get("type") in ("error", "response.failed"):
            inner = record.get("response")
            return inner if isinstance(inner, dict) and inner.get("error") else record
    return None


def _code(error: object) -> str:
    inner: Any = error.get("error", error) if isinstance(error, dict) else error
    return f"{inner.get('code') or ''} {inner.get('type') or ''}" if isinstance(inner, dict) else ""


def _path(endpoint: Endpoint) -> str:
    return "chat/completions" if endpoint == "chat" else endpoint


def _made(
    kind: str, status: int | None, en: str, zh: str, fix_en: str, fix_zh: str, *, retry: bool = False, ok: bool = False
) -> Judged:
    return Judged(kind, ok, Text(en, zh), Text(fix_en, fix_zh), retry, status)


def unreachable(kind: str, detail: str) -> Judged:
    """No answer at all: which layer failed."""
    said = redact(detail)[:120]
    layers = {
        "dns": ("the host name is not known", "主机名无法解析", "check the address, or the DNS of this machine", "检查地址或本机 DNS"),
        "tcp": ("nothing answers at that address", "该地址没有响应", "check host and port, VPN and firewall", "检查主机、端口、VPN 和防火墙"),
        "tls": ("the certificate is not trusted", "证书不受信任", "set SSL_CERT_FILE to your CA bundle; do not turn verification off", "把 SSL_CERT_FILE 指向你的 CA 证书；不要关闭校验"),
        "proxy": ("the proxy refuses", "代理拒绝了请求", "check HTTPS_PROXY (and its credentials)", "检查 HTTPS_PROXY（及其凭据）"),
        "timeout": ("no answer in time", "未在限定时间内响应", "try again; then check the gateway", "重试；然后检查网关"),
        "broken": ("the connection breaks off", "连接中断", "try again", "重试"),
        "too_large": ("the answer is larger than 1 MB", "响应超过 1 MB", "check the address", "检查地址"),
    }  # fmt: skip
    en, zh, fix_en, fix_zh = layers[kind]
    return Judged(
        kind,
        False,
        Text(f"{en} ({said})" if said else en, f"{zh}（{said}）" if said else zh),
        Text(fix_en, fix_zh),
        kind in ("timeout", "broken"),
    )
