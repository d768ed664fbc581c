// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/// What keeps a file from being written, for as long as these objects live.

/// No file may grow beyond `bytes`: what a full disk does, without filling one.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) {
        old_handler_ = std::signal(SIGXFSZ, SIG_IGN);   // then write answers EFBIG
        getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;
    ~file_size_limit() {
        setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }

private:
    rlimit old_{};
    void (*old_handler_)(int);
};

/// Everybody may read the folder, nobody may write in it. Root may whatever the bits say, so root
/// becomes somebody else.
class read_only_folder {
public:
    explicit read_only_folder(std::string path) : path_(std::move(path)) {
        chmod(path_.c_str(), 0555);
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0) was_root_ = seteuid(nobody) == 0;
        binds_ = access_is_denied();
    }
    read_only_folder(const read_only_folder&) = delete;
    read_only_folder& operator=(const read_only_folder&) = delete;
    ~read_only_folder() {
        if (was_root_ && seteuid(0) != 0) std::abort();   // the rest of the tests would fail for no reason of theirs
        chmod(path_.c_str(), 0755);
    }
    /// Whether it works here.
    bool binds() const { return binds_; }

private:
    std::string path_;
    bool was_root_ = false, binds_ = false;
    bool access_is_denied() const {   // faccessat with the effective user, whom access() does not ask
        return faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0;
    }
};
