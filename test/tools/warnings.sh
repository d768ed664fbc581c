#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# warnings.sh COMPILER FOLDER [COMPILER]: the headers, and what programs instantiate of them, give no
# warning under a user's flags, and a compiler that does not optimise says so in one line, unless
# SINTER_ALLOW_UNOPTIMISED is defined. Of the second compiler the headers give no warning either; where that is clang,
# members are used under the mutex alone that guards them (base/thread_safety.hpp), and what does otherwise is refused.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }
fault=0
compile() { "$1" -std=c++20 -fsyntax-only -Iinclude "${@:2}" 2>&1; }

program='#include <sinter/sinter.hpp>
int main() {}'
said=$(compile "$1" -x c++ - <<<"$program")
[ "$(grep -c 'warning: ' <<<"$said")" = 1 ] && grep -q 'warning: Sinter trains .* without optimisation' <<<"$said" ||
    { printf '%s\n' "without optimisation there should be one warning:" "$said"; fault=1; }
for flags in -O1 -DSINTER_ALLOW_UNOPTIMISED; do
    said=$(compile "$1" $flags -x c++ - <<<"$program")
    [ -z "$said" ] || { printf '%s\n' "with $flags there should be no warning:" "$said"; fault=1; }
done

strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wdouble-promotion -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wextra-semi -Wundef -Werror)
# All headers, whether an example includes them or not, but those of MPI and NCCL, whose macros warn,
# and those that only CUDA's compiler reads.
headers=(-name '*.hpp' ! -path '*collective/mpi*' ! -path '*collective/nccl*' ! -name cuda.hpp ! -name launch.hpp
    '(' ! -path '*device/cuda*' -o -name gpu_program.hpp ')')
all_headers() { find include/sinter "${headers[@]}" -printf '#include <sinter/%P>\n'; }
said=$(all_headers | compile "$1" -O1 "${strict[@]}" -x c++ -) ||
    { printf '%s\n' "the headers give warnings:" "$said"; fault=1; }
if [ -n "${3:-}" ]; then
    locks=()
    case $("$3" --version) in *clang*) locks=(-Wthread-safety) ;; esac
    said=$(all_headers | compile "$3" -O1 -Wall -Wextra -Wshadow "${locks[@]}" -Werror -x c++ -) ||
        { printf '%s\n' "the headers give warnings of $3:" "$said"; fault=1; }
fi
# refused COMPILER WORDS: the program that is read here must not compile, for clang says WORDS.
refused() {
    said=$(compile "$1" -O1 -Werror=thread-safety -x c++ -) &&
        { echo "$1 does not see that a guarded member is used without its mutex: $2"; fault=1; return; }
    grep -q -- "$2" <<<"$said" || { printf '%s\n' "$1 does not say \"$2\", but:" "$said"; fault=1; }
}
if [ -n "${locks[*]:-}" ]; then
    refused "$3" "reading variable 'n' requires holding mutex 'guard'" <<'PROGRAM'
#include <sinter/base/mutex.hpp>
struct counter {
    sinter::base::mutex guard;
    int n SINTER_GUARDED_BY(guard) = 0;
    int now() { return n; }
};
PROGRAM
    refused "$3" "calling function 'add' requires holding mutex 'guard'" <<'PROGRAM'
#include <sinter/base/mutex.hpp>
struct counter {
    sinter::base::mutex guard;
    int n SINTER_GUARDED_BY(guard) = 0;
    void add() SINTER_REQUIRES(guard) { ++n; }
    void twice() {
        sinter::base::mutex_lock hold(guard);
        add();
        hold.unlock();
        add();
    }
};
PROGRAM
    # The same of a server's parts (parameter_server/server/engine.hpp).
    engine='#include <sinter/parameter_server/server.hpp>
namespace sinter::inline SINTER_TARGET::parameter_servers {'
    refused "$3" "reading variable 'progress' requires holding mutex 'e.mutex'" <<<"$engine
        long step(server::engine& e) { return e.progress.global_step(); } }"
    refused "$3" "calling function 'advance' requires holding mutex 'e.mutex'" <<<"$engine
        void advance(server::engine& e) { e.advance(); } }"
fi
for example in quickstart lstm gpt csv_classification csv_regression; do
    said=$(compile "$1" -O1 "${strict[@]}" examples/$example.cpp) ||
        { printf '%s\n' "examples/$example.cpp gives warnings:" "$said"; fault=1; }
done
# What compilers find only while they optimise: values that may not be initialised.
said=$("$1" -std=c++20 -O2 "${strict[@]}" -Iinclude -c -o /dev/null -x c++ - 2>&1 <<'PROGRAM'
#include <sinter/sinter.hpp>
using namespace sinter;
constexpr auto net = array<7, 20> >> [](tensor x) { return ops::mean(x * x, {0}) / ops::max(x, {0}); }
    >> layer_norm >> dense<40> >> relu >> batch_norm >> dropout<0.1f> >> dense<3>;
int main() {
    estimator model{net, softmax_cross_entropy, adam{}};
    const float x[140] = {};
    const std::int32_t label = 0;
    return model.inner().step({.x = x, .labels = &label, .size = 1}) > 0;
}
PROGRAM
) || { printf '%s\n' "optimised code gives warnings:" "$said"; fault=1; }
exit $fault
