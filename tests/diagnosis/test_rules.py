"""Each rule on a played rollout that has its fault, and on ones that nearly have it."""

from pathlib import Path

import pytest

from codex_skyrl.report.model import Diagnosis, Verdict
from material import diagnosis
from story import Item, Story, batch, clock, play, write_log

SLOW_MODEL = ((20.0, 2.0),) * 8


def verdict(tmp_path: Path, *stories: Story, more: dict[str, str] | None = None) -> Verdict:
    return whole(tmp_path, *stories, more=more).verdict


def whole(tmp_path: Path, *stories: Story, more: dict[str, str] | None = None) -> Diagnosis:
    write_log(tmp_path / "rollout.log", *stories)
    for name, text in (more or {}).items():
        (tmp_path / name).write_text(text)
    return diagnosis(tmp_path)


def server_lines(seconds: float, running: int, queued: int = 0, usage: float = 0.1, rate: float = 300.0) -> str:
    line = "[2025-05-20 {}] Decode batch. #running-req: {}, #token: 9, token usage: {:.2f}, gen throughput (token/s): {:.2f}, #queue-req: {}"  # fmt: skip
    times = range(12 * 3600, 12 * 3600 + int(seconds), 5)
    return "".join(line.format(clock(t), running, usage, rate, queued) + "\n" for t in times)


def gpu_rows(seconds: float, percent: int) -> str:
    head = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n"
    times = range(12 * 3600, 12 * 3600 + int(seconds), 5)
    return head + "".join(f"2025/05/20 {clock(t)}.000, 0, {percent} %, 61000 MiB\n" for t in times)


def test_init_limits_when_starts_are_slow(tmp_path: Path) -> None:
    found = verdict(tmp_path, play(batch(8, 6, lambda i: {"init_s": 120.0, "sandbox_s": 115.0}), 4, 8))
    assert (found.bottleneck, found.cause) == ("init", "container_start")
    assert "busy 88%" in found.summary


def test_some_slow_starts_among_quick_ones_are_image_pulls(tmp_path: Path) -> None:
    found = verdict(tmp_path, play(batch(8, 6, lambda i: {"init_s": 14.0 if i % 3 == 0 else 300.0}), 4, 4))
    assert (found.bottleneck, found.cause) == ("init", "image_pull")


def test_starts_that_became_slow_are_cache_misses_since_that_step(tmp_path: Path) -> None:
    quick = play(batch(8, 6, lambda i: {"init_s": 14.0}), 4, 4)
    slow = play(batch(8, 6, lambda i: {"init_s": 14.0 if i % 3 == 0 else 300.0}), 4, 4)
    found = verdict(tmp_path, quick, slow)
    assert (found.bottleneck, found.cause) == ("init", "cache_miss")
    assert "From step 2 on" in found.summary


def test_failing_starts_are_named(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"init_s": 100.0, "init_error": "503" if i % 3 == 0 else None}), 4, 4)
    found = verdict(tmp_path, story)
    assert (found.bottleneck, found.cause) == ("init", "sandbox_errors")


def test_a_slow_environment_is_not_a_slow_model(tmp_path: Path) -> None:
    found = verdict(tmp_path, play(batch(8, 6, lambda i: {"turns": ((3.0, 20.0),) * 8}), 4, 4))
    assert (found.bottleneck, found.cause) == ("run", "env_slow")


def test_a_crawling_server_is_saturated(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": SLOW_MODEL}), 4, 4)
    more = {"sglang.log": server_lines(story.end_s, 4, rate=30.0), "gpu.csv": gpu_rows(story.end_s, 97)}
    found = verdict(tmp_path, story, more=more)
    assert (found.bottleneck, found.cause) == ("run", "llm_saturated")


def test_a_full_cache_that_pushes_requests_out(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": SLOW_MODEL}), 4, 4)
    retract = f"[2025-05-20 {clock(12 * 3600 + 60)}] KV cache pool is full. Retract requests. #retracted_reqs: 5, #new_tokens_gained: 7\n"
    more = {"sglang.log": server_lines(story.end_s, 3, queued=2, usage=0.98, rate=90.0) + retract}
    found = verdict(tmp_path, story, more=more)
    assert (found.bottleneck, found.cause) == ("run", "kv_cache_full")


def test_useful_work_is_healthy(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": ((6.0, 2.0),) * 8}), 4, 4)
    more = {"sglang.log": server_lines(story.end_s, 3), "gpu.csv": gpu_rows(story.end_s, 90)}
    found = verdict(tmp_path, story, more=more)
    assert (found.bottleneck, found.cause) == ("healthy", "none")
    assert "always the deepest" in found.naive


def test_idle_gpus_under_busy_quick_agents_want_more_agents(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": ((3.0, 2.5),) * 8}), 4, 4)
    more = {"sglang.log": server_lines(story.end_s, 2, rate=110.0), "gpu.csv": gpu_rows(story.end_s, 35)}
    found = verdict(tmp_path, story, more=more)
    assert (found.bottleneck, found.cause) == ("run", "few_workers")


def test_turns_at_the_cap(tmp_path: Path) -> None:
    story = play(batch(8, 6), 4, 4)
    write_log(tmp_path / "rollout.log", story)
    text = (tmp_path / "rollout.log").read_text().splitlines()
    cap = "RuntimeError: Agent reached maximum iteration in headless mode. Current iteration: 8, max iteration: 8"
    marked = [piece for line in text for piece in ([line, cap] if "BEGIN Runtime Completion Fn" in line else [line])]
    (tmp_path / "rollout.log").write_text("\n".join(marked) + "\n")
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("run", "max_iterations")


@pytest.mark.parametrize(
    ("evaluators", "tests_s", "cause"),
    [(1, 60.0, "few_workers"), (4, 300.0, "test_time"), (1, 30.15, "eval_poll")],
)
def test_eval_limits(tmp_path: Path, evaluators: int, tests_s: float, cause: str) -> None:
    found = verdict(tmp_path, play(batch(8, 6, lambda i: {"tests_s": tests_s}), 4, evaluators))
    assert (found.bottleneck, found.cause) == ("eval", cause)


def test_evaluations_that_run_into_their_limit(tmp_path: Path) -> None:
    late = {"tests_s": 1200.0, "eval_error": "Evaluation timed out after 1200 seconds"}
    found = verdict(tmp_path, play(batch(8, 6, lambda i: late if i % 4 == 0 else {}), 4, 4))
    assert (found.bottleneck, found.cause) == ("eval", "eval_timeout")


def test_slow_sandboxes_of_the_evaluators(tmp_path: Path) -> None:
    found = verdict(tmp_path, play(batch(8, 6, lambda i: {"sandbox_s": 200.0}), 4, 3))
    assert (found.bottleneck, found.cause) == ("eval", "container_start")


def test_all_three_full(tmp_path: Path) -> None:
    story = play(batch(12, 8, lambda i: {"init_s": 42.0, "tests_s": 32.0}), 4, 4)
    found = verdict(tmp_path, story)
    assert (found.bottleneck, found.cause) == ("saturated", "mixed")


def test_a_batch_no_larger_than_the_workers(tmp_path: Path) -> None:
    found = verdict(tmp_path, play(batch(4, 2), 8, 8))
    assert (found.bottleneck, found.cause) == ("supply", "small_batch")


def test_one_endless_trajectory_is_a_tail(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": ((3.0, 2.0),) * (90 if i == 40 else 8)}), 8, 8)
    found = verdict(tmp_path, story)
    assert (found.bottleneck, found.cause) == ("straggler", "straggler")
    assert "up to 90 turns" in found.summary


def test_a_barrier_in_every_turn(tmp_path: Path) -> None:
    """All agents' replies come at the same moments, then none for 30 s."""
    story = play(batch(8, 8, lambda i: {"init_s": 4.0, "turns": ((33.0, 2.0),) * 8}, jitter=0), 8, 8)
    found = verdict(tmp_path, story, more={"gpu.csv": gpu_rows(story.end_s, 10)})
    assert (found.bottleneck, found.cause) == ("sync", "barrier")


def test_replies_noticed_every_four_seconds(tmp_path: Path) -> None:
    turns = tuple((4.0, 0.6 + 0.1 * k) for k in range(12))
    story = play(batch(8, 6, lambda i: {"init_s": 12.0 + i % 5, "turns": turns}, jitter=0), 4, 4)
    more = {"sglang.log": server_lines(story.end_s, 1, rate=55.0), "gpu.csv": gpu_rows(story.end_s, 30)}
    found = verdict(tmp_path, story, more=more)
    assert (found.bottleneck, found.cause) == ("sync", "llm_wakeup")


def test_silence_after_the_last_trajectory_is_a_hang(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"init_error": "503" if i == 47 else None}), 4, 4)
    write_log(tmp_path / "rollout.log", story, end_line=False)
    (tmp_path / "gpu.csv").write_text(gpu_rows(story.end_s + 900, 60))
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "hang")
    assert "1 failed start left" in found.summary


def test_the_end_of_the_log_alone_is_no_hang(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"init_s": 120.0}), 4, 4)
    write_log(tmp_path / "rollout.log", story, end_line=False)
    (tmp_path / "gpu.csv").write_text(gpu_rows(story.end_s + 60, 60))
    assert diagnosis(tmp_path).verdict.bottleneck == "init"


def test_work_over_but_the_call_waits_for_its_limit(tmp_path: Path) -> None:
    story = play(batch(4, 2, lambda i: {"init_error": "503" if i in (1, 2) else None}), 8, 8)
    end = clock(12 * 3600 + story.end_s + 600)
    limit = (
        f"{end} - openhands:ERROR: codeact.py:1359 - Timeout reached: 4 tasks did not finish within 900s . Cancelling"
    )
    write_log(tmp_path / "rollout.log", story, end_line=False, extra=[limit])
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "hang")
    assert "600 s of dead time" in found.summary


def test_a_batch_smaller_than_the_workers_that_never_returns(tmp_path: Path) -> None:
    write_log(tmp_path / "rollout.log", play(batch(3, 2), 8, 8), end_line=False)
    (tmp_path / "launch.sh").write_text(
        "python x actor_rollout_ref.rollout.max_parallel_agents=8 trainer.n_gpus_per_node=1"
    )
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "hang")
    assert "2 workers without an item" in found.summary


def test_silence_in_the_middle_of_work(tmp_path: Path) -> None:
    story = play(batch(8, 6), 4, 4)
    path = write_log(tmp_path / "rollout.log", story)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[: len(lines) // 2]) + "\n")
    (tmp_path / "gpu.csv").write_text(gpu_rows(story.end_s + 900, 2))
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "hang")
    assert "trajectories are under way" in found.summary


def test_a_few_timeouts_at_the_end_are_named_for_the_tail(tmp_path: Path) -> None:
    late = {"tests_s": 1200.0, "eval_error": "Evaluation timed out after 1200 seconds"}
    found = verdict(tmp_path, play(batch(8, 6, lambda i: late if i in (44, 46) else {}), 8, 8))
    assert (found.bottleneck, found.cause) == ("eval", "eval_timeout")


def test_training_that_outweighs_the_rollout(tmp_path: Path) -> None:
    story = play(batch(8, 2), 4, 4)
    metrics = f"step:1 - timing_s/gen:{story.end_s:.3f} - timing_s/update_actor:2000.0 - timing_s/step:{story.end_s + 2100:.3f}"
    write_log(tmp_path / "rollout.log", story, extra=[metrics])
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("trainer", "training_side")
    assert "update_actor" in found.summary


def test_one_slow_rank_of_three(tmp_path: Path) -> None:
    for pid, seconds in ((1, 20.0), (2, 21.0), (3, 90.0)):
        story = play(batch(4, 6, lambda i, s=seconds: {"init_s": s}), 4, 4)  # type: ignore[misc]
        write_log(tmp_path / f"rank{pid}.log", story, prefix=f"(WorkerDict pid={pid}) ")
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("straggler", "slow_rank")
    assert "pid=3" in found.summary


def test_threads_shared_by_init_and_eval(tmp_path: Path) -> None:
    story = play(batch(20, 8, lambda i: {"init_s": 60.0, "tests_s": 60.0}), 40, 40)
    path = write_log(tmp_path / "rollout.log", story)
    late = path.read_text().replace("Building remote runtime with base image", "Building")  # taken out, put in later
    lines = []
    for line in late.splitlines():
        lines.append(line)
        if " - Using instance container image" in line:
            seconds = sum(int(x) * f for x, f in zip(line[:8].split(":"), (3600, 60, 1), strict=True)) + 15
            lines.append(f"{clock(seconds)} - openhands:INFO: remote_runtime.py:120 - [runtime session_id=x{len(lines)} runtime_id=unknown] Building remote runtime with base image: i")  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "thread_cap")


def test_stops_that_block_the_event_loop(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"init_s": 5.0}), 4, 4)
    stop = 20.0
    for item in story.items:
        for name in ("run_served", "run_released"):
            item.moments[name] = max(item.moments[name], item.moments["run_taken"] + item.run_s)
    path = write_log(tmp_path / "rollout.log", story)
    shifted = []
    for line in path.read_text().splitlines():
        if "END Runtime Completion Fn" in line:
            seconds = sum(int(x) * f for x, f in zip(line[:8].split(":"), (3600, 60, 1), strict=True)) - stop
            shifted.append(clock(seconds) + line[8:])
        else:
            shifted.append(line)
    path.write_text("\n".join(shifted) + "\n")
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("sync", "blocked_loop")


def test_nothing_of_a_step_is_unknown_and_says_what_to_collect(tmp_path: Path) -> None:
    (tmp_path / "gpu.csv").write_text(gpu_rows(600, 30))
    report = diagnosis(tmp_path)
    assert report.verdict.bottleneck == "unknown"
    assert any("rollout log" in m.what for m in report.missing)


def test_the_most_frequent_errors_are_pointed_at_when_nothing_is_known(tmp_path: Path) -> None:
    lines = [f"[ERROR] worker {n} lost its connection" for n in range(5)] + ["[ERROR] disk full", "[INFO] fine"]
    (tmp_path / "rollout.log").write_text("\n".join(lines) + "\n")
    report = diagnosis(tmp_path)
    assert report.verdict.bottleneck == "unknown"
    assert [(e.line_start, e.says[:25]) for e in report.evidence] == [
        (1, "an error that comes 5 time"[:25]),
        (6, "an error that comes 1 time"[:25]),
    ]


def test_one_rank_with_a_longer_tail_is_not_a_slow_rank(tmp_path: Path) -> None:
    for pid, turns in ((1, 8), (2, 8), (3, 80)):
        story = play(batch(8, 4, lambda i, n=turns: {"turns": ((3.0, 2.0),) * (n if i == 30 else 8)}), 4, 4)  # type: ignore[misc]
        write_log(tmp_path / f"rank{pid}.log", story, prefix=f"(WorkerDict pid={pid}) ")
    found = diagnosis(tmp_path).verdict
    assert (found.bottleneck, found.cause) == ("straggler", "straggler")


def test_the_experiment_comes_with_a_prediction_where_the_replay_holds(tmp_path: Path) -> None:
    found = whole(tmp_path, play(batch(8, 6, lambda i: {"tests_s": 90.0}), 4, 1))
    [experiment] = found.experiments
    assert experiment.knob == "actor_rollout_ref.rollout.max_eval_parallel_agents"
    assert (experiment.from_, experiment.to) == (1, 2)
    assert -52 < (experiment.step_time_change_pct or 0) < -40
    assert experiment.next_bottleneck == "eval"


def test_idle_gpus_lead_to_more_agents_not_to_more_evaluators(tmp_path: Path) -> None:
    story = play(batch(8, 6, lambda i: {"turns": ((3.0, 2.5),) * 8}), 4, 4)
    more = {"gpu.csv": gpu_rows(story.end_s, 35), "launch.sh": "x actor_rollout_ref.rollout.max_parallel_agents=4"}
    [experiment] = whole(tmp_path, story, more=more).experiments
    assert (experiment.knob, experiment.to) == ("actor_rollout_ref.rollout.max_parallel_agents", 8)


def test_items_keep_their_order() -> None:
    items: list[Item] = batch(3, 2)
    assert [(i.instance[-3:], i.number) for i in items] == [("100", 0), ("101", 0), ("102", 0), ("100", 1), ("101", 1), ("102", 1)]  # fmt: skip
