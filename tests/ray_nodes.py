"""A Ray cluster on this machine in a process of its own: `python ray_nodes.py [--bare] NAME=FOLDER ...`.

Each node finds its folder in $RUN_LOGS; with `--bare` none of them has codex-skyrl or what it depends on. Prints its address and the session's folder of logs as JSON, then obeys lines on stdin: `kill NAME`, answered by `done`;
ends when stdin does.
"""

import json
import sys
from pathlib import Path


def main() -> None:
    from ray.cluster_utils import Cluster

    bare = sys.argv[1] == "--bare"
    cluster = Cluster()
    try:
        nodes = {}
        for argument in sys.argv[1 + bare :]:
            name, _, folder = argument.partition("=")
            hidden = {"PYTHONPATH": str(Path(__file__).parent / "bare_node")} if bare else {}
            nodes[name] = cluster.add_node(
                num_cpus=1, node_name=name, env_vars={"RUN_LOGS": folder, **hidden}, object_store_memory=80_000_000, include_dashboard=False
            )  # fmt: skip
        session = next(iter(nodes.values())).get_logs_dir_path()
        print(json.dumps({"address": cluster.address, "session": session}), flush=True)
        for line in sys.stdin:
            cluster.remove_node(nodes[line.split()[1]], allow_graceful=False)
            print("done", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
