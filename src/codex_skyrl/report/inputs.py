"""What is said about each file that was read: families found, counts, and everything odd that was met."""

from collections.abc import Sequence

from codex_skyrl.logs.scan import FileReport
from codex_skyrl.report.model import Input
from codex_skyrl.text import Lang, Text

NOT_READ = "not-read"


def input_of(report: FileReport, lang: Lang, notes: Sequence[Text] = ()) -> Input:
    """The report's row for one file; `notes` are said beside what was odd in it."""
    events = sum(report.families.values())
    return Input(
        path=report.path,
        kind="+".join(sorted(report.families, key=lambda f: -report.families[f])) or "not-understood",
        bytes=report.reading.bytes,
        lines=report.reading.lines,
        events=events,
        problems=[p.to(lang) for p in (*problems_of(report), *notes)],
    )


def not_read(name: str, why: Text, lang: Lang) -> Input:
    """The row of something that was to be read and was not."""
    return Input(path=name, kind=NOT_READ, bytes=0, lines=0, events=0, problems=[why.to(lang)])


def problems_of(report: FileReport) -> list[Text]:
    """Each oddity as a sentence; empty for a clean file."""
    reading = report.reading
    lost = report.folded
    named = (
        (lost, Text(f"Ray swallowed {lost:,} repeated lines: counted, their ids are lost (set RAY_DEDUP_LOGS=0)",
                    f"Ray 去重吞掉了 {lost:,} 行：数量已计入，id 已丢失（请设置 RAY_DEDUP_LOGS=0）")),
        (reading.nul_bytes, Text(f"{reading.nul_bytes:,} NUL bytes skipped", f"跳过了 {reading.nul_bytes:,} 个 NUL 字节")),
        (reading.invalid_bytes, Text(f"{reading.invalid_bytes:,} bytes are not UTF-8", f"{reading.invalid_bytes:,} 个字节不是合法的 UTF-8")),
        (reading.long_lines, Text(f"lines longer than is looked at: {reading.long_lines:,}", f"{reading.long_lines:,} 行过长，只看了开头")),
        (report.damaged_records, Text(f"{report.damaged_records:,} records are damaged", f"{report.damaged_records:,} 条记录已损坏")),
        (int(reading.last_line_incomplete), Text("the last line is incomplete", "最后一行不完整")),
        (len(reading.stopped), Text(f"reading stopped early: {reading.stopped}", f"提前停止读取：{reading.stopped}")),
        (not report.families, Text("nothing in it was understood", "没有读懂其中任何内容")),
    )  # fmt: skip
    return [text for count, text in named if count]
