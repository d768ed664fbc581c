#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""test_times.py BUILD_DIR [-R REGEX] [-E REGEX] [-j N]: how long a build folder's tests take and compute.

For whoever wants the tests to be faster, or wonders whether one of them waits: ctest says wall seconds alone. It runs
the tests that `ctest -R REGEX -E REGEX` would, with their environment, time limit and fixtures, and prints a line for
each, the longest first: wall seconds, processor seconds (user and system, of the test's process and of all that were
waited for below it), their share of the wall seconds, and the name. A test with a small share waits: see `// waits:` in
test/CMakeLists.txt. What failed is printed at the end, with its output; then the exit status is 1. Meanwhile the error
output has a line for each test that is over.

-j N is ctest's: so many of the units that tests' PROCESSORS count. By default one test runs at a time, which is how to
measure; whatever else the machine does makes wall seconds more. A test whose program is not built is left out, and so
is one whose fixture failed.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Test:
    """A test as ctest describes it, and what came of it."""

    def __init__(self, description):
        self.name, self.command = description["name"], description.get("command")
        found = {p["name"]: p["value"] for p in description.get("properties", [])}
        self.folder = found.get("WORKING_DIRECTORY", ".")
        self.environment = dict(entry.split("=", 1) for entry in found.get("ENVIRONMENT", []))
        self.limit, self.processors = float(found.get("TIMEOUT", 1500)), int(found.get("PROCESSORS", 1))
        self.setup, self.required = found.get("FIXTURES_SETUP", []), found.get("FIXTURES_REQUIRED", [])
        self.after = found.get("DEPENDS", [])
        self.passes, self.skips = (found.get(f"{kind}_REGULAR_EXPRESSION", []) for kind in ("PASS", "SKIP"))
        self.fails, self.inverted = found.get("FAIL_REGULAR_EXPRESSION", []), bool(found.get("WILL_FAIL", False))
        self.state, self.wall, self.cpu, self.output = "waiting", 0.0, 0.0, ""

    def run(self):
        with tempfile.TemporaryFile() as said:
            began = time.monotonic()
            try:
                child = subprocess.Popen(self.command, cwd=self.folder, env=os.environ | self.environment,
                                         stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                         start_new_session=True)
            except OSError as error:
                self.output = str(error)
                return "failed"
            late = threading.Event()

            def stop():
                late.set()
                end_session(child.pid)

            watch = threading.Timer(self.limit, stop)
            watch.start()
            _, status, used = os.wait4(child.pid, 0)
            watch.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            self.wall, self.cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
            end_session(child.pid)   # what it left behind would disturb the next
            said.seek(0)
            self.output = said.read().decode(errors="replace")
        if late.is_set():
            self.output += f"\nstopped after {self.limit:.0f} s"
            return "failed"
        return self.verdict(child.returncode)

    def verdict(self, status):
        def says(patterns):
            return any(re.search(p, self.output) for p in patterns)
        if says(self.skips):
            return "skipped"
        good = not says(self.fails) and (says(self.passes) if self.passes else status == 0)
        if not good and not self.inverted:
            self.output += f"\nexit status {status}"
        return "passed" if good != self.inverted else "failed"


def end_session(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except OSError:
        pass   # nobody is left


def listed(args):
    command = ["ctest", "--test-dir", args.build, "--show-only=json-v1"]
    for option in ("R", "E"):
        if getattr(args, option) is not None:
            command += [f"-{option}", getattr(args, option)]
    return [Test(t) for t in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["tests"]]


def run_all(tests, slots):
    """Runs them, as many at a time as have room, in ctest's order otherwise."""
    changed, free = threading.Condition(), slots
    running = []

    def finish(test):
        nonlocal free
        state = test.run()
        print(f"{state} {test.name} {test.wall:.1f} s", file=sys.stderr, flush=True)
        with changed:
            test.state = state
            free += min(test.processors, slots)
            changed.notify()

    def ready(test):
        before = [t for t in tests if t.name in test.after or any(f in test.required for f in t.setup)]
        if any(t.state == "failed" for t in before if t.setup):
            test.state = "not run"
        return test.state == "waiting" and all(t.state not in ("waiting", "running") for t in before)

    with changed:
        while any(t.state in ("waiting", "running") for t in tests):
            for test in tests:
                if test.state == "waiting" and ready(test) and min(test.processors, slots) <= free:
                    test.state = "running"
                    free -= min(test.processors, slots)
                    running.append(threading.Thread(target=finish, args=(test,)))
                    running[-1].start()
            if any(t.state == "running" for t in tests):
                changed.wait()
            elif not any(t.state == "waiting" and ready(t) for t in tests):
                break   # what is left waits for what was left out
    for thread in running:
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_DIR")
    parser.add_argument("-R", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("-E", metavar="REGEX", help="without tests whose name matches")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="at a time, as ctest counts (default 1)")
    args = parser.parse_args()
    tests = listed(args)
    absent = [t for t in tests if not t.command or not (os.sep not in t.command[0] or os.path.exists(t.command[0]))]
    tests = [t for t in tests if t not in absent]
    began = time.monotonic()
    run_all(tests, max(1, args.j))
    done = [t for t in tests if t.state in ("passed", "failed")]
    print("   wall s    cpu s   cpu/wall  test")
    for t in sorted(done, key=lambda t: -t.wall):
        mark = "" if t.state == "passed" else "   FAILED"
        print(f"{t.wall:9.2f}{t.cpu:9.2f}{t.cpu / max(t.wall, 1e-9):11.2f}  {t.name}{mark}")
    print(f"{sum(t.wall for t in done):9.2f}{sum(t.cpu for t in done):9.2f}             {len(done)} tests, in "
          f"{time.monotonic() - began:.1f} s")
    for state in ("skipped", "not run"):
        if names := [t.name for t in tests if t.state in ({state} if state == "skipped" else {state, "waiting"})]:
            print(f"{state}: {' '.join(names)}")
    if absent:
        print(f"not built: {len(absent)} tests")
    failed = [t for t in done if t.state == "failed"]
    for t in failed:
        print(f"\n== {t.name} failed\n{t.output.rstrip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
