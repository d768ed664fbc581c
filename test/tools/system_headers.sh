#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# system_headers.sh FOLDER: what a training program on one machine asks of the operating system it asks through
# include/sinter/base/os/, so that a port to another system has one folder to write. No other header includes one of the
# system's own headers, or calls what they declare (written ::name), but for those of net, collective and
# parameter_server: sockets, memory that processes share, servers' threads.
set -u
cd "$1/include" 2>/dev/null && [ -d sinter/base/os ] ||
    { echo "$1 has no include/sinter/base/os: needed is the repository's root"; exit 1; }
one_of() { tr -s ' \n' '|' <<<"$1" | sed -E 's/^\|?(.*[^|])\|?$/(\1)/'; }

# Headers of POSIX that C does not have, those of C to which POSIX adds, and those of Linux, glibc and the C++ ABI.
header=$(one_of 'aio alloca cpio cxxabi dirent dlfcn elf endian err execinfo fcntl features fmtmsg fnmatch ftw glob grp
    iconv ifaddrs langinfo libgen link malloc mntent monetary mqueue ndbm netdb nl_types poll pthread pty pwd regex
    sched search semaphore shadow signal spawn strings stropts sysexits syslog tar termios time ucontext ulimit unistd
    utime utmp utmpx wordexp')
folder=$(one_of 'arpa asm asm-generic bits linux net netinet rpc scsi sys')
include="^ *# *include *<($header[.]h|csignal|$folder/[^>]*)>"

# Functions of theirs. (Those of C, as ::exp, are no matter of the system.)
function=$(one_of '_exit accept access alarm bind chdir chmod chown clock_[a-z]+ close closedir connect creat dirfd
    dl[a-z]+ dprintf dup[23]? exec[a-z]+ faccessat fchdir fchmod(at)? fcntl fdatasync fdopen(dir)? fileno flock fork
    fstat(at)? ftruncate fsync futimens getcwd get[a-z]*id gethostname getpagesize getrlimit getrusage ioctl isatty kill
    link(at)? listen lockf lseek lstat madvise mincore mk[a-z]*temps? mkdir(at)? mkfifo mlock mmap mprotect mremap msync
    munlock munmap nanosleep open(at)? open_memstream opendir pathconf pause pclose pipe2? poll popen posix_[a-z]+ prctl
    preadv? pthread_[a-z_]+ pwritev? raise readv? readdir readlink(at)? realpath recv rename(at)? rmdir sched_[a-z]+
    select send setenv set[a-z]*id setrlimit shm_[a-z]+ sig[a-z]+ sleep socket stat statvfs symlink sync
    sysconf syscall tc[a-z]+ truncate umask uname unlink(at)? unsetenv usleep utimensat vfork wait waitpid writev?')
call="(^|[^A-Za-z0-9_>:])(::$function|std::(raise|signal))[(]"

# What headers of these folders include or call, as FILE:LINE:TEXT; not what comments say.
uses() {
    grep -rnE "$include|$call" "$@" --include='*.hpp' |
        awk -F: -v pattern="$include|$call" '{
            code = $0
            sub(/^[^:]*:[0-9]+:/, "", code)
            sub(/\/\/.*/, "", code)
            if (code ~ pattern) print
        }'
}

# It sees what it is for.
own=$(uses sinter/base/os)
for must in '<sys/stat.h>' '<pthread.h>' '<csignal>' '::openat(' '::pthread_create(' 'std::signal(' '::madvise('; do
    grep -qF -- "$must" <<<"$own" || { echo "this test does not see $must in include/sinter/base/os"; exit 1; }
done

folders=$(find sinter -mindepth 1 -maxdepth 1 -type d | grep -vE '/(net|collective|parameter_server)$')
found=$(uses sinter/*.hpp $folders | grep -v '^sinter/base/os/')
[ -z "$found" ] && exit 0
sed 's/^/include\//' <<<"$found"
echo "needed is a function of include/sinter/base/os, with a test in test/base/os"
exit 1
