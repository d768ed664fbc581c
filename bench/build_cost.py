#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What Sinter costs to compile: processor seconds (user and system) and peak memory, beside the
budgets, dlib and libtorch.

Every case is compiled to an object file, some rounds over; the least time is reported, since other
work on the machine can only add to it. Cases: an empty include, the program in README, also under
strategies of several replicas and processes, the quickstart example, training steps of ResNets, of
a GPT and of an LSTM, chains of equal and of all-different layers, dlib's LeNet, four small nets in
libtorch (with -O2, where --peers has it). "Compiled once": the file of a program whose ordinary code
is in another file, as SINTER_SEPARATE_COMPILATION has it; that file itself is not counted. nvcc
compiles programs that train on a GPU, the others programs for the processor.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import machine
import tables

BENCH = pathlib.Path(__file__).parent
ROOT = BENCH.parent

# The budgets of the design hold for g++: case -> (seconds, megabytes).
BUDGETS = {"empty include": (1.2, 200), "README": (6, 400), "ResNet-50": (25, 700),
           "README, multi_worker<ring>, compiled once": (11, 570),
           "ResNet-18": (25, 700), "GPT, 12 blocks": (25, 700), "LSTM, 2 layers": (25, 700),
           "64 different layers": (12, None), "256 equal layers": (6, None)}

# Training steps of whole nets, in bench/compiled.
COMPILED = {"ResNet-18": "resnet18.cpp", "ResNet-50": "resnet50.cpp", "GPT, 12 blocks": "gpt12.cpp",
            "LSTM, 2 layers": "lstm2.cpp"}

LIBTORCH = "libtorch, four nets"

# Strategies of several processes, and their headers.
STRATEGIES = {"multi_worker<ring>": "sinter/distributed.hpp", "parameter_server<async>": "sinter/parameter_server.hpp"}

# The one place where generated programs use Sinter's interface.
CHAIN = """{header}#include <sinter/sinter.hpp>
using namespace sinter;

constexpr auto net = features<64>{layers} >> dense<10>;

int main() {{
    auto training = data::source(data::dataset(extents(64), std::vector<float>(64 * 64)).labels(std::vector<int>(64)))
                  | data::batch(64);
    estimator model{{net, softmax_cross_entropy, sgd{{.learning_rate = 0.01f}}{device}}};
    model.train(training);
}}
"""


def chain(widths, gpu):
    return CHAIN.format(layers="".join(f"\n    >> dense<{w}> >> relu" for w in widths),
                        header="#include <sinter/cuda.hpp>\n" * gpu, device=", single<cuda>{}" * gpu)


def readme():
    """The program on README's first screen."""
    return re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)


def readme_under(strategy, header):
    """The same under a strategy."""
    text = readme().replace("adam{.learning_rate = 1e-3f}}", "adam{.learning_rate = 1e-3f}, %s}" % strategy)
    return text.replace("#include <sinter/sinter.hpp>\n", "#include <sinter/sinter.hpp>\n#include <%s>\n" % header)


def cases(gpu=False):
    """Name -> source text, or a file. On a GPU without those that are about the processor."""
    found = {"empty include": "#include <sinter/%s.hpp>\n" % ("cuda" if gpu else "sinter")}
    found["quickstart"] = BENCH / "compiled" / "quickstart.cu" if gpu else ROOT / "examples" / "quickstart.cpp"
    if not gpu:
        found["README"] = readme()
        found["README, mirrored<2>"] = readme_under("mirrored<2>{}", "sinter/strategy/mirrored.hpp")
        from_environment = "{cluster::from_environment()}"
        for strategy, header in STRATEGIES.items():
            found[f"README, {strategy}"] = readme_under(strategy + from_environment, header)
        for name in ["empty include", "README", *(f"README, {strategy}" for strategy in STRATEGIES)]:
            found[f"{name}, compiled once"] = "#define SINTER_SEPARATE_COMPILATION\n" + found[name]
        for name, file in COMPILED.items():
            found[name] = BENCH / "compiled" / file
    for n in (16, 64, 256):
        found[f"{n} equal layers"] = chain([64] * n, gpu)
    for n in (16, 64, 256):  # widths rise and never repeat, nor are they all multiples of a vector
        found[f"{n} different layers"] = chain(range(32, 32 + n), gpu)
    if not gpu and pathlib.Path("/usr/include/dlib/dnn.h").exists():
        found["dlib LeNet"] = BENCH / "peers" / "dlib_lenet.cpp"
    if not gpu:
        found[LIBTORCH] = BENCH / "peers" / "libtorch_step.cpp"
    return found


def is_nvcc(compiler):
    return pathlib.Path(compiler).name == "nvcc"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="g++,clang++,nvcc",
                        help="default: those of %(default)s that are installed")
    parser.add_argument("--flags", default="-O3 -DNDEBUG",
                        help="for all of them (default: the release build's, %(default)s)")
    parser.add_argument("--native", default="-march=native", help="for g++ and clang++ (default %(default)s)")
    parser.add_argument("--cases", default="",
                        help="only those whose name contains one of these words, comma-separated")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one compilation (default 600)")
    parser.add_argument("--quick", action="store_true", help="one round, g++ only, no chain longer than 64")
    parser.add_argument("--peers", type=pathlib.Path, default=ROOT / "build" / "peers",
                        help="where bench/peers/setup.sh has put PyTorch (default build/peers)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "bench" / "build.jsonl")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.compilers = 1, args.compilers.split(",")[0]
    args.compilers = [c for c in args.compilers.split(",") if shutil.which(c)]
    if not args.compilers:
        parser.error("none of the compilers is installed")
    wanted = [w for w in args.cases.split(",") if w]
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    args.libtorch = libtorch_flags(args.peers)
    args.cases = [name for name in cases()
                  if (name != LIBTORCH or args.libtorch) and (not wanted or any(w in name for w in wanted))
                  and not (args.quick and name.startswith("256"))]
    if not args.cases:
        parser.error(f"no case contains any of: {', '.join(wanted)}")
    return args


def libtorch_flags(peers):
    """What a program of libtorch is compiled with; nothing where there is none."""
    done = subprocess.run([BENCH / "peers" / "libtorch.sh", "--flags", peers], capture_output=True, text=True)
    return done.stdout.split("\n")[:-1]


def command(compiler, source, args, folder):
    if source == cases()[LIBTORCH]:
        return [compiler, "-O2", *args.libtorch, "-c", str(source), "-o", os.devnull]
    include = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'examples'}", f"-I{ROOT}"]   # <zoo/...> is from the root
    common = ["-std=c++20", *shlex.split(args.flags), *include, "-c", str(source), "-o"]
    if is_nvcc(compiler):  # no output to the null device: it insists on a file it can rename
        return [compiler, "-x", "cu", "--expt-relaxed-constexpr", *common, str(folder / "object.o")]
    return [compiler, *shlex.split(args.native), *common, os.devnull]


def compile_once(line, timeout):
    """(seconds, megabytes) of the compiler and all its children, or the first line of its
    complaint."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(line, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        watch = threading.Timer(timeout, os.killpg, (child.pid, signal.SIGKILL))
        watch.start()
        try:
            _, status, used = os.wait4(child.pid, 0)
        except KeyboardInterrupt:
            os.killpg(child.pid, signal.SIGKILL)   # it has a session of its own
            raise
        finally:
            watch.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode == 0:
            return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        said.seek(0)
        text = said.read().decode(errors="replace").splitlines()
    error = next((t for t in text if "error" in t), f"ended by signal {-child.returncode}, or no message")
    return error.replace(str(ROOT), ".")[:300]


def measure(name, source, compiler, args, folder):
    if isinstance(source, str):
        path = folder / (name.replace(" ", "_") + ".cpp")
        path.write_text(source)
    else:
        path = source
    row = {"case": name, "compiler": compiler}
    line = command(compiler, path, args, folder)
    done = []
    for _ in range(args.rounds):
        got = compile_once(line, args.timeout)
        if isinstance(got, str):
            return row | {"failed": got.replace(str(folder) + os.sep, "")}
        done.append(got)
    row |= {"seconds": round(min(d[0] for d in done), 3), "megabytes": round(max(d[1] for d in done), 1),
            "rounds": len(done)}
    if compiler == "g++" and name in BUDGETS:
        seconds, megabytes = BUDGETS[name]
        row |= {"budget_seconds": seconds} | ({"budget_mb": megabytes} if megabytes else {})
    return row


def fill(args, rows):
    with tempfile.TemporaryDirectory() as folder:
        for name in args.cases:
            for compiler in args.compilers:
                source = cases(is_nvcc(compiler)).get(name)
                if source is None:
                    continue
                row = measure(name, source, compiler, args, pathlib.Path(folder))
                rows.append(row)
                text = f"{row['seconds']:.2f} s, {row['megabytes']:.0f} MB" if "seconds" in row else row["failed"]
                print(f"{name}  {compiler}: {text}", file=sys.stderr, flush=True)


def main():
    args = options()
    versions = {c: f"{c}: {machine.compiler_version(c)}" for c in args.compilers}
    where = machine.describe(compilers=versions, flags=f"{args.flags} {args.native}")
    rows = []
    try:
        fill(args, rows)
    except KeyboardInterrupt:   # what there is counts
        print("interrupted", file=sys.stderr)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text("".join(json.dumps(r) + "\n" for r in [where, *rows]))
    print(tables.build_table(args.out))
    print(f"\nJSON lines: {args.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
