"""Settings of released SkyRL-v0 that bear on the rollout: what a knob may be called where no checkout is at hand."""

_ROLLOUT = (
    "name temperature top_k top_p prompt_length response_length dtype gpu_memory_utilization ignore_eos enforce_eager "
    "free_cache_engine load_format tensor_model_parallel_size max_num_batched_tokens max_model_len max_num_seqs "
    "log_prob_micro_batch_size_per_gpu disable_log_stats enable_chunked_prefill n n_trajectories max_parallel_agents "
    "max_eval_parallel_agents max_starting_message_length max_iterations enable_memory_saver "
    "sampling_params qwen3_enable_thinking task_type"
)
_TRAINER = (
    "total_epochs total_training_steps project_name experiment_name logger nnodes n_gpus_per_node save_freq test_freq "
    "critic_warmup resume_mode val_before_train balance_batch"
)
_DATA = (
    "train_batch_size val_batch_size max_prompt_length max_response_length train_files val_files dataloader_num_workers"
)

RELEASED = frozenset(
    [f"actor_rollout_ref.rollout.{name}" for name in _ROLLOUT.split()]
    + [f"trainer.{name}" for name in _TRAINER.split()]
    + [f"data.{name}" for name in _DATA.split()]
)
