"""`--workers 1:3` on a cluster of Ray that grows: one node that wants a token, and simulated ones.

    python -P tests/benchmarks/cluster/ray_scaling.py [--rows 80]

Each node has one CPU, so that more workers need more nodes, which Ray's own autoscaler adds. A row sleeps for
1.5 seconds. Prints how the job ends without the token and with it, and how many nodes there were meanwhile.
Port 6379 must be free: what adds the nodes (`fake_multinode`, of Ray's tests) knows no other one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROGRAM = """\
extern py "shop:nap" fn nap(n: int) -> int effects read

fn f(n: int) -> int:
    return nap(n)
"""
SHOP = "import time\n\ndef nap(n: int) -> int:\n    time.sleep(1.5)\n    return n\n"
CLIENT = 21001
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef0123456789abcdef0123"}
PLAIN = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_USAGE_STATS_ENABLED": "0"}
NODES = """
import ray
ray.init('127.0.0.1:6379', log_to_driver=False, logging_level=40)
print(sum(node['Alive'] for node in ray.nodes()))
"""
CONFIG = {
    "cluster_name": "simulated",
    "max_workers": 4,
    "provider": {
        "type": "fake_multinode",
        "use_node_id_as_ip": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    },
    "available_node_types": {
        "more": {
            "resources": {"CPU": 1, "object_store_memory": 80 << 20},
            "node_config": {},
            "min_workers": 0,
            "max_workers": 4,
        },
        "head": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 0},
    },
    "head_node_type": "head",
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 0.3,
    "auth": {},
    "docker": {},
    "file_mounts": {},
    "file_mounts_sync_continuously": False,
    **{
        name: []
        for name in ("cluster_synced_files", "rsync_exclude", "rsync_filter", "initialization_commands")
    },
    **{f"{name}setup_commands": [] for name in ("", "head_", "worker_")},
    **{f"{name}_start_ray_commands": [] for name in ("head", "worker")},
}


def head_of(folder: Path) -> subprocess.Popen[bytes]:
    """A node that wants the token, with an autoscaler of simulated nodes."""
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus=1"]
    command += [f"--autoscaling-config={config}", "--port=6379", f"--ray-client-server-port={CLIENT}"]
    command += [f"--temp-dir={folder}/t", "--object-store-memory=100000000", "--include-dashboard=false"]
    more = {"AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1", **PLAIN, **TOKEN}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # the provider calls `ray`
    log = (folder / "head.log").open("wb")
    return subprocess.Popen(command, env={**os.environ, **more, "PATH": path}, stdout=log, stderr=log)


def job(folder: Path, out: str, variables: dict[str, str]) -> None:
    """Run the rows, and tell how that ended."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "sglc",
        "run",
        "p.sgl",
        "--allow-py",
        "shop",
        "--data",
        "rows.jsonl",
    ]
    command += [
        "--out",
        out,
        "--workers",
        "1:3",
        "--concurrency",
        "3",
        "--cluster",
        f"ray://127.0.0.1:{CLIENT}",
    ]
    begun = time.monotonic()
    ended = subprocess.run(command, cwd=folder, env={**os.environ, **PLAIN, **variables}, capture_output=True)
    last = [
        line for line in ended.stderr.decode().splitlines() if "rows," in line or line.startswith("error")
    ]
    print(f"{out}: exit {ended.returncode} after {time.monotonic() - begun:.0f} s: {last[-1]}", flush=True)


def nodes(ended: threading.Event) -> None:
    """Print how many nodes there are, where that changes."""
    begun, before = time.monotonic(), ""
    while not ended.wait(3):
        command = [sys.executable, "-c", NODES]
        asked = subprocess.run(command, env={**os.environ, **PLAIN, **TOKEN}, capture_output=True, text=True)
        if asked.stdout.strip() not in ("", before):
            before = asked.stdout.strip()
            print(f"  {time.monotonic() - begun:.0f} s: nodes: {before}", flush=True)


def end(folder: Path, head: subprocess.Popen[bytes]) -> None:
    """End the processes of this cluster, and no others."""
    head.kill()
    for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
        number, _, command = line.strip().partition(" ")
        if str(folder) in command and int(number) != os.getpid():
            os.kill(int(number), signal.SIGKILL)


def main() -> None:
    """Start, run, print, end."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=80)
    rows = options.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="sglc-ray-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "p.sgl").write_text(PROGRAM)
        (folder / "shop.py").write_text(SHOP)
        (folder / "rows.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(rows)))
        head = head_of(folder)
        try:
            time.sleep(30)
            job(folder, "without.jsonl", {})
            ended = threading.Event()
            watching = threading.Thread(target=nodes, args=[ended])
            watching.start()
            job(folder, "with.jsonl", TOKEN)
            time.sleep(60)  # nodes that have nothing to do go
            ended.set()
            watching.join()
            values = [json.loads(line).get("value") for line in (folder / "with.jsonl").open()]
            print("each row once:", sorted(values) == list(range(rows)))
        finally:
            end(folder, head)


if __name__ == "__main__":
    main()
