"""The forms a secret can have: tokens with a known shape, values after a telling name, and credentials inside others.

A form is anchored at word boundaries, so that `Task-69`, `flask-5000`, commit hashes and instance ids stay. Shapes that
the library detect-secrets knows are taken from it; here stand those it lacks.
"""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Protocol

_START = r"(?<![\w./-])"  # no word, path or option runs into it

# token shapes: prefix and what follows
_SHAPES = (
    r"sk-(?:[A-Za-z]{2,12}-)?[A-Za-z0-9_-]{16,}",  # OpenAI and the many gateways and providers that copy its form
    r"(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}", r"github_pat_\w{20,}", r"glpat-[\w-]{16,}", r"gl(?:dt|rt|cbt|ptt)-[\w-]{16,}",
    r"hf_[A-Za-z0-9]{20,}", r"api_org_[A-Za-z0-9]{20,}",
    r"xox[abeoprs]-[\w-]{10,}", r"xapp-[\w-]{10,}",
    r"AIza[\w-]{30,}", r"ya29\.[\w-]{20,}", r"GOCSPX-[\w-]{20,}",
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?!\w)", r"LTAI[A-Za-z0-9]{12,}", r"AKID[A-Za-z0-9]{20,}", r"AKLT[A-Za-z0-9_-]{20,}",
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}", r"whsec_[A-Za-z0-9+/=]{16,}",
    r"npm_[A-Za-z0-9]{30,}", r"pypi-[\w-]{30,}", r"dckr_(?:pat|oat)_[\w-]{16,}", r"cr_pat_[\w-]{16,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}", r"AC[0-9a-f]{32}(?!\w)", r"SK[0-9a-f]{32}(?!\w)", r"key-[0-9a-f]{32}(?!\w)",
    r"gsk_[A-Za-z0-9]{20,}", r"xai-[A-Za-z0-9]{20,}", r"pplx-[A-Za-z0-9]{20,}", r"r8_[A-Za-z0-9]{20,}", r"fw_[A-Za-z0-9]{20,}",
    r"nvapi-[\w-]{20,}", r"dapi[0-9a-f]{32}(?!\w)", r"tgp_v1_[\w-]{20,}", r"tpsk-[\w-]{20,}", r"wandb_v1_[\w-]{20,}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?!\w)",  # Zhipu
    r"hv[sbr]\.[\w-]{20,}", r"dop_v1_[0-9a-f]{32,}", r"lin_api_\w{20,}", r"ntn_\w{20,}", r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}",
    r"ATATT[\w=-]{20,}", r"NRAK-[A-Z0-9]{20,}", r"glsa_\w{20,}", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", r"sntrys_\w{20,}",
    r"\d{8,10}:AA[\w-]{30,}", r"[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,}", r"PMAK-[0-9a-f-]{30,}", r"ops_eyJ[\w-]{20,}",
    r"\$(?:2[aby]|5|6)\$[\w./$]{20,}",  # password hashes
)  # fmt: skip

TOKENS = re.compile(rf"{_START}(?:{'|'.join(_SHAPES)})")
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)", re.DOTALL
)  # fmt: skip

# credentials inside something else; group `keep` stays
EMBEDDED = (
    re.compile(r"(?i)(?P<keep>\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token|digest)\s+)?[^\s\"',;]+"),
    re.compile(r"(?i)(?P<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}"),
    re.compile(r"(?i)(?P<keep>\b(?:set-)?cookie[\"']?\s*:\s*[\"']?)[^\s\"',]+"),
    re.compile(r"(?P<keep>(?<=://)[^\s/:@\"']{0,80}:)[^\s/@\"']{1,200}(?=@)"),
    re.compile(r"(?P<keep>https?://)[A-Za-z0-9_-]{16,}(?=@)"),  # a token alone before the host
    re.compile(r"(?P<keep>https://hooks\.slack\.com/(?:services|workflows)/)[\w/-]{10,}"),
    re.compile(r"(?P<keep>https://(?:discord(?:app)?\.com/api/webhooks|open\.feishu\.cn/open-apis/bot/v2/hook|oapi\.dingtalk\.com/robot/send\?access_token=)/?)[\w/-]{8,}"),
    re.compile(r"(?i)(?P<keep>[?&](?:access_?token|api_?key|auth|key|password|sig|signature|secret|token|x-amz-(?:signature|security-token))=)[^\s&\"'#]{6,}"),
    re.compile(r"(?i)(?P<keep>\bAccountKey=)[A-Za-z0-9+/=]{20,}"),
    re.compile(r"(?i)(?P<keep>\bSharedAccessSignature=)\S{20,}"),
    re.compile(r"(?P<keep>\bcurl\b[^\n|;]*?\s(?:-u|--user)\s*[\"']?[^\s:\"']+:)[^\s\"']+"),
    re.compile(r"(?P<keep>\bsshpass\s+-p\s*[\"']?)[^\s\"']+"),
    re.compile(r"(?P<keep>\bmachine\s+\S+\s+login\s+\S+\s+password\s+)\S+"),
    re.compile(r"(?i)(?P<keep>\bwandb\s+login\s+(?:--relogin\s+)?)[0-9a-f]{40}(?!\w)"),
    re.compile(r"(?i)(?P<keep>--(?:password|passwd|token|api-key|secret|secret-key|access-key|hf-token|auth-token)[ =][\"']?)(?!\$)[^\s\"']{4,}"),
    re.compile(r"(?P<keep>[\"']auths?[\"']\s*:\s*[\"'])[A-Za-z0-9+/=]{12,}"),
    re.compile(r"(?P<keep>\bmysql\b[^\n|;]*?\s-p)[^\s\"'-][^\s\"']{3,}"),
)  # fmt: skip

# NAME=VALUE, NAME: VALUE, "NAME": "VALUE"
_SURE = r"api[_-]?key|apikey|secret(?:[_-]?(?:key|access[_-]?key|token))?|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|access[_-]?key|(?:access|auth|refresh|session|bearer|(?<![a-z])id)[_-]?token|client[_-]?secret|encryption[_-]?key|signing[_-]?key"
_LIKELY = r"[_-]?key(?:[_-]?id)?|[_-]?token|[_-]?auth|[_-]?salt|[_-]?dsn"
_VALUE = r"[\"']?\s*(?:=>|[:=])\s*(?P<value>\"[^\"\n]+\"|'[^'\n]+'|[^\s\"',;&}\])]+)"
SURE_NAME = re.compile(rf"(?i)(?<![\w/])[\w.-]*(?:{_SURE})\d*{_VALUE}")
LIKELY_NAME = re.compile(rf"(?i)(?<![\w/])[\w.-]*(?:{_LIKELY})\d*{_VALUE}")

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PWD)")
_PLACEHOLDER = re.compile(
    r"(?:-?\d{1,12}(?:\.\d+)?|none|null|nil|true|false|empty|unset|missing|raise|return|pass|float|secretstr|continue|break|str|int|bool|optional|not|\*+|x{3,}|\.{3}|\$\{?\w+(?::?-[^}]*)?\}?|\$\(.*|"
    r"\{\{.*|\[redacted\]|<[\w -]+>|(?:os\.)?(?:environ|getenv)\b.*|\w+\(.*)$",
    re.IGNORECASE,
)  # fmt: skip


_REFERENCE = re.compile(
    r"(?i)[a-z_][\w.]*(?:key|secret|token|passw)[a-z_.]*|[a-z_][\w.]*\.(?:key|secret|token|password)"
)


def is_value(value: str) -> bool:
    """Whether what stands after a sure name is a secret and not a placeholder, a variable or the name of one."""
    if len(value) < 4 or _PLACEHOLDER.match(value) or _VARIABLE.fullmatch(value):
        return False
    return not _REFERENCE.fullmatch(value) and "{" not in value and "(" not in value


def is_random(value: str) -> bool:
    """Whether a value looks made by a machine: long, letters and digits, no words joined by dots or slashes."""
    if len(value) < 16 or not re.fullmatch(r"[\w+/=.~-]+", value):
        return False
    letters, digits = sum(c.isalpha() for c in value), sum(c.isdigit() for c in value)
    return letters >= 4 and digits >= 3 and is_value(value) and not re.fullmatch(r"[\w-]*__[\w.-]+-\d+", value)


def library_secrets(line: str) -> Iterator[str]:
    """What detect-secrets finds in one line, by its detectors of known shapes (none by entropy or public address)."""
    for detector in _detectors():
        yield from detector.analyze_string(line)


def _detectors() -> "tuple[_Detector, ...]":
    """Made once, when first needed: the library takes a moment to import."""
    if not _LOADED:
        _LOADED.extend(getattr(import_module(f"detect_secrets.plugins.{m}"), c)() for m, c in _USED)
    return tuple(_LOADED)


_USED = (
    ("aws", "AWSKeyDetector"), ("azure_storage_key", "AzureStorageKeyDetector"), ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"), ("github_token", "GitHubTokenDetector"), ("gitlab_token", "GitLabTokenDetector"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"), ("ibm_cos_hmac", "IbmCosHmacDetector"), ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"), ("npm", "NpmDetector"), ("openai", "OpenAIDetector"), ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"), ("slack", "SlackDetector"), ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"), ("stripe", "StripeDetector"), ("twilio", "TwilioKeyDetector"),
)  # fmt: skip


class _Detector(Protocol):
    """What is used of a detector of the library."""

    def analyze_string(self, string: str) -> Iterable[str]: ...


_LOADED: list[_Detector] = []
