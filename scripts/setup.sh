# SPDX-License-Identifier: BSL-1.0
# Sourced by the other scripts: finds what is missing, asks apt for it, and says plainly what it could not get.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CXX=${CXX:-g++}
wanted=()

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }
has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { has_command "$CXX" && echo "#include <$1>" | "$CXX" -x c++ -E - >/dev/null 2>&1; }
has_sanitizers() {
    echo 'int main() {}' | clang++ -x c++ -fsanitize=address,undefined - -o /dev/null >/dev/null 2>&1
}

# Leak checking traces the process, which containers commonly forbid; the other checks do not need it.
has_leak_checking() {
    local probe
    probe=$(mktemp) && echo 'int main() {}' | clang++ -x c++ -fsanitize=address - -o "$probe" 2>/dev/null &&
        ASAN_OPTIONS=detect_leaks=1 "$probe" >/dev/null 2>&1
    local status=$?
    rm -f "$probe"
    return $status
}

# want_command NAME PACKAGE, want_header NAME PACKAGE: note the package where the thing is missing.
want_command() { has_command "$1" || wanted+=("$2"); }
want_header() { has_header "$1" || wanted+=("$2"); }

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
    # A list of packages that is old or absent is refreshed once, and only when it turns out to be of no use.
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
