# SPDX-License-Identifier: BSL-1.0
"""Says on what a benchmark ran, since figures of different machines do not compare.

As a program: prints that as JSON; with --core which kind of core it has, by which results are kept
apart.
"""
import json
import os
import platform
import re
import subprocess
import sys
import time


def cpu_model():
    try:
        return re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def cpu_flags():
    try:
        return set(re.search(r"flags\s*:\s*(.*)", open("/proc/cpuinfo").read())[1].split())
    except (OSError, TypeError):
        return set()


def vector_bits():
    flags = cpu_flags()
    return 512 if "avx512f" in flags else 256 if "avx2" in flags else 128


def core():
    """AMD's generations by name, as cloud machines hide their processors' names; others by family
    and model."""
    try:
        text = open("/proc/cpuinfo").read()
        vendor = re.search(r"vendor_id\s*:\s*(.*)", text)[1]
        family, model = (int(re.search(rf"{what}\s*:\s*(\d+)", text)[1]) for what in ("cpu family", r"\nmodel"))
    except (OSError, TypeError):
        return platform.machine() or "unknown"
    if vendor == "AuthenticAMD":
        of_family_25 = "zen4" if 0x10 <= model <= 0x1f or 0x60 <= model <= 0x7f or 0xa0 <= model <= 0xaf else "zen3"
        if name := {23: "zen2" if model >= 0x30 else "zen1", 25: of_family_25, 26: "zen5"}.get(family):
            return name
    return f"{vendor.lower()}-family{family}-model{model}"


def compiler_version(command):
    """The first line with a version that the compiler prints of itself, or None where there is
    none."""
    try:
        text = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    found = [line for line in text.splitlines() if re.search(r"\d+\.\d+", line)]
    return found[0] if found else None


def busy_cores(seconds=0.5):
    """How many cores others keep busy: the load average would still hold what this benchmark itself
    ran a minute ago."""
    def busy():
        ticks = open("/proc/stat").readline().split()[1:]
        user, nice, system, _idle, _waiting, irq, softirq, steal, *_ = map(int, ticks)
        return user + nice + system + irq + softirq + steal

    try:
        before = busy()
        time.sleep(seconds)
        return (busy() - before) / os.sysconf("SC_CLK_TCK") / seconds
    except (OSError, ValueError):
        return os.getloadavg()[0]


def describe(**more):
    load = busy_cores()
    if load > 0.3:
        print(f"warning: {load:.1f} cores are busy: something else is running, times will be too long", file=sys.stderr)
    return {"machine": {"cpu": cpu_model(), "core": core(), "cores": len(os.sched_getaffinity(0)),
                        "system": platform.system(), "vector_bits": vector_bits(),
                        "busy_cores_before": round(load, 2),
                        "date": time.strftime("%Y-%m-%d"), **more}}


def sentence(machine):
    m = machine["machine"]
    text = f"{m['cpu']}{', ' + m['core'] if 'core' in m else ''}, {m['cores']} cores"
    if "vector_bits" in m:
        text += f", {m['vector_bits']}-bit vectors"
    if "peak_gflops" in m:
        text += ", peak " + ", ".join(f"{g:.0f} GFLOP/s with {n} thread{'s' * (n != '1')}"
                                      for n, g in m["peak_gflops"].items())
    if "round_trip_ns" in m:
        text += ", a cache line between cores and back in {:.0f} to {:.0f} ns".format(*m["round_trip_ns"])
    if "busy_cores_before" in m:
        text += f"; {m['busy_cores_before']} cores busy before the run"
    text += f"; {m['date']}"
    return text + ("; no time was left for " + ", ".join(m["left_out"]) if "left_out" in m else "")


if __name__ == "__main__":
    print(core() if sys.argv[1:] == ["--core"] else json.dumps(describe()))
