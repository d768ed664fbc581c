# SPDX-License-Identifier: BSL-1.0
"""Runs a program that says its result in a line of JSON, and hands the line on."""
import json
import subprocess
import sys


def run(name, command, seconds=300, environment=None):
    """Prints the last line of JSON that the command says. What cannot be started, fails, says
    none, or takes longer than these seconds is named on the error output, and the rest of a benchmark goes on."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"{name}: not over after {seconds} s", file=sys.stderr)
        return
    except OSError as e:
        print(f"{name}: {e}", file=sys.stderr)
        return
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        print(f"{name}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return
    print(json.dumps(json.loads(lines[-1])), flush=True)
