#!/usr/bin/env bash
# Knobs of this simulated run.
MAX_PARALLEL_AGENTS=4
python -m verl.trainer.main_ppo \
    data.train_batch_size=4 \
    actor_rollout_ref.rollout.n_trajectories=4 \
    actor_rollout_ref.rollout.max_parallel_agents=$MAX_PARALLEL_AGENTS \
    actor_rollout_ref.rollout.max_eval_parallel_agents=4 \
    actor_rollout_ref.rollout.max_iterations=25 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    trainer.n_gpus_per_node=1 trainer.nnodes=1 "$@"
