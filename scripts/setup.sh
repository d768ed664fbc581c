# SPDX-License-Identifier: BSL-1.0
# Sourced by the other scripts: finds what is missing, asks apt for it, and says plainly what it
# could not get.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CXX=${CXX:-g++}
wanted=()

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }
has_command() { command -v "$1" >/dev/null 2>&1; }
# A header may be there without its library: Debian's Boost headers come in one package, each
# library in its own. jpeglib.h does not include <cstdio>, which it needs.
has_library() {
    has_command "$CXX" &&
        printf '#include <cstdio>\n#include <%s>\nint main() {}\n' "$1" |
        "$CXX" -x c++ - -l"$2" -o /dev/null >/dev/null 2>&1
}
has_sanitizers() {   # COMPILER
    echo 'int main() {}' | "$1" -x c++ -fsanitize=address,undefined - -o /dev/null >/dev/null 2>&1
}

has_thread_sanitizer() {   # COMPILER: it must run, too, since some kernels lay out memory in ways that it cannot use
    local probe
    probe=$(mktemp) && echo 'int main() {}' | "$1" -x c++ -fsanitize=thread - -o "$probe" 2>/dev/null &&
        "$probe" >/dev/null 2>&1
    local status=$?
    rm -f "$probe"
    return $status
}

# Leak checking traces the process, which containers commonly forbid; the other checks do not need
# it.
has_leak_checking() {
    local probe
    probe=$(mktemp) && echo 'int main() {}' | "$CXX" -x c++ -fsanitize=address - -o "$probe" 2>/dev/null &&
        ASAN_OPTIONS=detect_leaks=1 "$probe" >/dev/null 2>&1
    local status=$?
    rm -f "$probe"
    return $status
}

# want_command NAME PACKAGE, want_library HEADER NAME PACKAGE: note the package where the thing is
# missing.
want_command() { has_command "$1" || wanted+=("$2"); }
want_library() { has_library "$1" "$2" || wanted+=("$3"); }

# Installs packages; fails where apt is missing or refuses.
apt_install() {
    has_command apt-get || return 1
    local root=()
    if [ "$(id -u)" != 0 ]; then
        has_command sudo || return 1
        root=(sudo)
        [ -t 0 ] || root+=(-n)   # nobody is there to type a password
    fi
    say "Installing: $*"
    # A list of packages that is old or absent is refreshed once, and only when it turns out to be
    # of no use.
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" 2>/dev/null ||
        { "${root[@]}" apt-get update &&
          "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
}

# install_wanted: what cannot be done without.
install_wanted() {
    [ ${#wanted[@]} = 0 ] && return
    apt_install "${wanted[@]}" || die "
Sinter needs packages that this script could not install. Please install them and run it again:
    apt-get install ${wanted[*]}"
    wanted=()
}

# need_compiler_and_cmake: the toolchain of every script.
need_compiler_and_cmake() {
    want_command "$CXX" g++
    want_command cmake cmake
    has_command ninja || has_command make || wanted+=(ninja-build)
    install_wanted
    local version
    version=$(cmake --version | sed -n 's/^cmake version //p')
    printf '3.25\n%s\n' "$version" | sort -CV || die "Sinter needs cmake 3.25 or newer; this is $version."
}

# use_compiler_cache: sets `launcher` to the options with which CMake compiles through ccache, where it is installed or
# can be had; empty where not. The cache lies outside the checkout, under $SINTER_CCACHE or the user's cache folder, and
# what is compiled in another clone of the same commit is found there: names below the checkout are relative in it. It
# is another one for each kind of processor, since -march=native means something else on each.
use_compiler_cache() {
    launcher=()
    local folder=${SINTER_CCACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sinter-ccache} processor
    has_command ccache || apt_install ccache || true
    if ! has_command ccache; then say "Compiling without ccache, which could not be had"; return 0; fi
    processor=$({ uname -m; grep -m 2 -E '^(model name|flags|CPU part|Features)' /proc/cpuinfo 2>/dev/null; } |
        cksum | cut -d ' ' -f 1)
    folder=$folder/$processor
    if ! mkdir -p "$folder" 2>/dev/null || ! [ -w "$folder" ]; then
        say "Compiling without ccache: $folder cannot be written to"
        return 0
    fi
    say "Compiling through ccache, with the cache $folder"
    # What a file includes is taken from the compiler's own list (CCACHE_DEPEND): no second run of the preprocessor.
    # A precompiled header is compared by the options that it was made with, and by its own bytes.
    local settings=(CCACHE_DIR="$folder" CCACHE_BASEDIR="$top" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-10G}")
    local all
    printf -v all '%s;' env "${settings[@]}" ccache
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER="${all%;}")
    compiler_cache=(env "${settings[@]}" ccache)
    "${compiler_cache[@]}" --zero-stats >/dev/null
}
# tell_compiler_cache: how many files have been found in the cache since use_compiler_cache.
tell_compiler_cache() {
    [ ${#launcher[@]} = 0 ] || "${compiler_cache[@]}" --print-stats |
        awk '/^(direct|preprocessed)_cache_hit/ { found += $2 }
             /^cache_miss/ { missed += $2 }
             END { printf "ccache: %d files were found, %d were compiled\n", found, missed }'
}

# want_python FOLDER: sets `python` to an interpreter that has numpy and safetensors, and
# onnxruntime if that can be had: the system's, or one in a virtual environment in FOLDER, made
# where apt and the network allow it. Empty where they do not; ctest shows what that skips.
want_python() {
    local log=$1.log
    python=
    if ! has_command python3 || ! python3 -c 'import ensurepip' 2>/dev/null; then apt_install python3-venv || true; fi
    has_command python3 || return 0
    find_python 'import numpy, safetensors, onnxruntime' python3 "$1/bin/python3" && return 0
    say "Installing in $1: numpy, safetensors, onnxruntime"
    mkdir -p "$(dirname "$1")"
    # Few tries and a short wait: without a network the tests shall begin all the same.
    local pip=("$1/bin/python3" -m pip install --disable-pip-version-check --retries 1 --timeout 10 --only-binary :all:)
    if python3 -m venv "$1" >"$log" 2>&1 && "${pip[@]}" numpy safetensors >>"$log" 2>&1; then
        "${pip[@]}" onnxruntime >>"$log" 2>&1 ||
            printf 'No onnxruntime for python3 (%s says why): its tests are skipped.\n' "$log"
    fi
    find_python 'import numpy, safetensors' "$1/bin/python3" python3 ||
        printf 'No numpy and safetensors for python3 (%s says why): the tests that need them are skipped.\n' "$log"
}
# find_python CODE CANDIDATE...: the first interpreter that can run CODE.
find_python() {
    local code=$1 candidate
    shift
    for candidate in "$@"; do
        if "$candidate" -c "$code" 2>/dev/null; then python=$(command -v "$candidate") && return 0; fi
    done
    return 1
}

# jobs: how many compilers run at once; each may take 1.5 GiB.
jobs() {
    local cores memory
    cores=$(nproc 2>/dev/null || echo 1)
    memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null)
    memory=${memory:-$cores}
    [ "$memory" -lt 1 ] && memory=1
    [ "$memory" -lt "$cores" ] && echo "$memory" || echo "$cores"
}

# configure FOLDER OPTIONS...: a folder keeps the generator it began with.
configure() {
    local folder=$1 generator=()
    shift
    if [ ! -e "$folder/CMakeCache.txt" ] && has_command ninja; then generator=(-G Ninja); fi
    cmake -S "$top" -B "$folder" "${generator[@]}" "$@"
}
