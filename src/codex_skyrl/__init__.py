"""codex-skyrl: find out, with evidence, why a SkyRL-v0 rollout pipeline is slow."""

__version__ = "0.1.0"
