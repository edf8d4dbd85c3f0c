"""Small checkouts with the structure of SkyRL-v0 and of its successor, written for the tests: our own code and names."""

from pathlib import Path
from textwrap import dedent

V0_PIPELINE = dedent(
    '''
    import asyncio
    import time


    class Agent:
        async def generate(self, ids):
            return (await self.infer_engine.async_generate(input_ids=ids))["text"]

        async def step(self, state):
            return call_async_from_sync(self.generate, ids=state)

        def close(self):
            self.runtime.close()


    class Group:
        def __init__(self, max_parallel_agents=1, max_eval_parallel_agents=1):
            self.max_parallel_agents = max_parallel_agents
            self.max_eval_parallel_agents = max_eval_parallel_agents

        async def _prepare(self, item):
            await runtime.connect()
            await call_sync_from_async(set_up, runtime)

        async def _drive(self, item):
            try:
                await run_controller(item)
            finally:
                self.agents[item].close()

        def _test(self, runtime):
            timeout = 1200
            while True:
                if time.time() > timeout:
                    raise Exception("late")
                time.sleep(30)

        async def _judge(self, item):
            try:
                await call_sync_from_async(self._test, runtime)
            finally:
                runtime.close()

        async def pipeline(self):
            """Three queues."""
            todo = asyncio.Queue()
            ready = asyncio.Queue(maxsize=self.max_parallel_agents)
            done = asyncio.Queue(maxsize=self.max_parallel_agents)
            for item in range(self.n):
                await todo.put(item)

            async def first():
                item = await todo.get()
                await self._prepare(item)
                await ready.put(item)

            async def second():
                item = await ready.get()
                await self._drive(item)
                await done.put(item)

            async def third():
                item = await done.get()
                await self._judge(item)

            most = self.max_parallel_agents
            for _ in range(min(most, todo.qsize())):
                asyncio.create_task(first())
            for _ in range(self.max_parallel_agents):
                asyncio.create_task(second())
            for _ in range(self.max_eval_parallel_agents):
                asyncio.create_task(third())
            await todo.join()
            await asyncio.wait(tasks)

        def run(self):
            return loop.run_until_complete(self.pipeline())
    '''
)
V0_ROLLOUT = dedent(
    """
    class Rollout:
        def generate_sequences(self, prompts):
            group = Group(
                max_parallel_agents=self.config.max_parallel_agents // self.device_mesh.size(0),
                max_eval_parallel_agents=self.config.max_eval_parallel_agents // self.device_mesh.size(0),
            )
            return group.run()
    """
)
V0_CONFIG = dedent(
    """
    data:
      train_batch_size: 1024
    actor_rollout_ref:
      rollout:
        max_parallel_agents: 1 # at the same time
        max_eval_parallel_agents: -1
        max_iterations: 1
        n_trajectories: 1
        val_kwargs:
          max_parallel_agents: 2
    """
)
V0_SCRIPT = dedent(
    """
    AGENTS=64
    python -m verl.trainer.main_ppo \\
        actor_rollout_ref.rollout.max_parallel_agents=$AGENTS \\
        trainer.n_gpus_per_node=8
    """
)
V1_DISPATCHER = dedent(
    """
    import asyncio


    async def dispatcher(cfg, trajectories, init_fn, run_fn, eval_fn):
        init_queue = asyncio.Queue()
        run_queue = asyncio.Queue()
        eval_queue = asyncio.Queue()
        workers = min(total, cfg["max_parallel_agents"])
        evaluators = min(total, cfg.get("max_eval_parallel_agents", workers))

        async def one():
            while True:
                i = await init_queue.get()
                await getattr(trajectories[i], init_fn)()
                await run_queue.put(i)

        async def two():
            while True:
                i = await run_queue.get()
                await getattr(trajectories[i], run_fn)()
                await eval_queue.put(i)

        async def three():
            while True:
                i = await eval_queue.get()
                await getattr(trajectories[i], eval_fn)()

        tasks = [asyncio.create_task(one()) for _ in range(workers)]
        tasks += [asyncio.create_task(two()) for _ in range(workers)]
        tasks += [asyncio.create_task(three()) for _ in range(evaluators)]
        await init_queue.join()
    """
)
V1_RUNNER = dedent(
    """
    class Base:
        async def run(self):
            init_fn = "start_up"
            run_fn = "drive"
            eval_fn = "judge"


    class Trajectory:
        async def start_up(self):
            runtime.close()

        async def judge(self):
            import requests

            requests.get("x", timeout=60)
    """
)


def v0(root: Path, *, folder: str = "verl/workers/agentic") -> Path:
    """A SkyRL-v0 checkout; `folder` holds the agent (the second layout has it one level deeper)."""
    _write(root / folder / "codeact.py", V0_PIPELINE)
    _write(root / "verl/workers/agentic/async_rollout.py", V0_ROLLOUT)
    _write(root / "verl/trainer/config/ppo_trainer.yaml", V0_CONFIG)
    _write(root / "examples/sky/run.sh", V0_SCRIPT)
    return root


def v1(root: Path) -> Path:
    """A checkout of the successor."""
    _write(root / "skyrl_agent/dispatcher/dispatchers.py", V1_DISPATCHER)
    _write(root / "skyrl_agent/agents/base.py", V1_RUNNER)
    _write(root / "examples/run.yaml", "dispatcher:\n  max_parallel_agents: 96\n  max_eval_parallel_agents: 48\n")
    return root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
