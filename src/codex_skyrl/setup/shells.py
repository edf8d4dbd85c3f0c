"""How to set the key's variable in the user's shell. Never with a value: the key is typed by its owner."""

from codex_skyrl.text import Text

_LINES = {
    "bash": ("~/.bashrc", "read -rs KEY && printf 'export {name}=%q\\n' \"$KEY\" >> ~/.bashrc"),
    "zsh": ("~/.zshrc", "read -rs KEY && printf 'export {name}=%q\\n' \"$KEY\" >> ~/.zshrc"),
    "fish": ("fish's universal variables", "read -s KEY; set -Ux {name} $KEY"),
    "powershell": (
        "the user's environment",
        "[Environment]::SetEnvironmentVariable('{name}', (Read-Host -MaskInput), 'User')",
    ),
}


def shell_of(env: dict[str, str]) -> str:
    """bash, zsh, fish or powershell, from SHELL or the marks PowerShell leaves."""
    name = env.get("SHELL", "").rpartition("/")[2]
    if name in _LINES:
        return name
    return "powershell" if "PSModulePath" in env and not name else "bash"


def export_hint(shell: str, name: str) -> Text:
    """One command that asks for the key and stores it, and the note to open a new terminal."""
    place, line = _LINES[shell]
    command = line.format(name=name)
    return Text(
        f"Set the key ({shell}, stored in {place}; it is asked for, not shown):\n    {command}\n"
        "Then open a new terminal: a running one does not see it.",
        f"设置 key（{shell}，保存在 {place}；会提示输入且不回显）：\n    {command}\n然后打开新的终端：已打开的终端看不到它。",
    )
