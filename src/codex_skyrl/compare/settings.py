"""Which settings differ between two runs, those that cannot bear on rollout time left out."""

from collections.abc import Iterable

from codex_skyrl.report.comparison import SettingChange
from codex_skyrl.report.model import STAGES, Diagnosis, Setting

# what names, stores and logs a run, or says how long it goes on
_BESIDES = frozenset(
    [
        "project_name",
        "experiment_name",
        "logger",
        "default_local_dir",
        "default_hdfs_dir",
        "save_freq",
        "test_freq",
        "total_epochs",
        "total_training_steps",
        "resume_mode",
        "resume_from_path",
        "val_before_train",
        "train_files",
        "val_files",
    ]
)


def changes(before: Diagnosis, after: Diagnosis) -> list[SettingChange]:
    """Settings that differ, by key; where no script was read on either side, workers that the logs show."""
    if not before.settings and not after.settings:
        return list(_workers(before, after))
    old, new = _last(before.settings), _last(after.settings)
    keys = [k for k in sorted({*old, *new}) if k.rpartition(".")[2] not in _BESIDES]
    return [_change(key, old.get(key), new.get(key)) for key in keys if _value(old.get(key)) != _value(new.get(key))]


def _last(settings: Iterable[Setting]) -> dict[str, Setting]:
    """The last one written wins, as Hydra does it."""
    return {s.key: s for s in settings}


def _value(setting: Setting | None) -> str | None:
    return None if setting is None else setting.value


def _change(key: str, old: Setting | None, new: Setting | None) -> SettingChange:
    return SettingChange(
        key=key, before=_value(old), after=_value(new), before_at=_place(old), after_at=_place(new)
    )  # fmt: skip


def _place(setting: Setting | None) -> str | None:
    return None if setting is None else f"{setting.source}:{setting.line}"


def _workers(before: Diagnosis, after: Diagnosis) -> Iterable[SettingChange]:
    for stage in STAGES:
        old, new = (getattr(d.stages, stage).workers for d in (before, after))
        if old is not None and new is not None and old != new:
            yield SettingChange(key=f"{stage}_workers", before=str(old), after=str(new))
