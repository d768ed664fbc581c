// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <atomic>
#include <pthread.h>

/// What fork() leaves behind: the child has the memory of its parent, and of its threads only the
/// one that called fork().
namespace sinter::base::inline os {

/// How many forks lie between the program's start and this process. Objects with threads keep the
/// number that they were made under: where it differs, their threads are gone.
class forks {
public:
    /// Counted from the first call on. A load: cheap enough for every run.
    static unsigned so_far() { return shared().count.load(std::memory_order_relaxed); }

    /// For as long as this lives fork() waits, so that the child finds whole what the caller is
    /// changing. (A fork() by the same thread does not wait.)
    class delay {
    public:
        delay() {
            if (depth()++ == 0) ::pthread_rwlock_rdlock(&shared().changing);
        }
        delay(const delay&) = delete;
        delay& operator=(const delay&) = delete;
        ~delay() {
            if (--depth() == 0) ::pthread_rwlock_unlock(&shared().changing);
        }
    };

private:
    struct record {
        std::atomic<unsigned> count{0};
        pthread_rwlock_t changing = PTHREAD_RWLOCK_INITIALIZER;
        SINTER_COLD record() {
            ::pthread_atfork([] { if (depth() == 0) ::pthread_rwlock_wrlock(&shared().changing); },
                             [] { if (depth() == 0) ::pthread_rwlock_unlock(&shared().changing); },
                             [] {
                                 shared().changing = PTHREAD_RWLOCK_INITIALIZER;   // its holders are not here
                                 if (depth() != 0) ::pthread_rwlock_rdlock(&shared().changing);
                                 ++shared().count;
                             });
        }
    };
    static record& shared() {
        static record r;
        return r;
    }
    static int& depth() {
        static thread_local int n = 0;
        return n;
    }
};

} // namespace sinter::base::os
