// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sinter/base/to_text.hpp>
#include <sinter/base/message.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/first_error.hpp>

#if !__has_include(<mpi.h>)
#error "sinter/collective/mpi.hpp needs an MPI library (Debian, Ubuntu: libopenmpi-dev), or mpicxx as compiler"
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX   // the C interface alone
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>

namespace sinter::inline SINTER_TARGET::collective {

/// The processes that mpirun has started, and one communicator of MPI's, which is this job's own.
class mpi_members final : public membership {
public:
    /// Initialises MPI if nobody has; then it is finalised when the process ends.
    mpi_members() {
        int there = 0;
        MPI_Initialized(&there);
        if (there) {
            MPI_Query_thread(&level_);
            any_thread_ = level_ == MPI_THREAD_MULTIPLE;
        } else {
            if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level_) != MPI_SUCCESS)
                throw device_error("MPI cannot be initialised", "mpi");
            std::atexit([] {
                int over = 0;
                MPI_Finalized(&over);
                if (!over) MPI_Finalize();
            });
            any_thread_ = level_ >= MPI_THREAD_SERIALIZED;   // nobody else calls MPI
        }
        need(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), {});
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        if (size_ > 1 && base::says(message_level::normal))
            base::say(message_level::normal,
                      to_text({role(rank_), " is in a job of ", size_, " members that MPI has started"}), role(rank_));
    }
    ~mpi_members() override {
        int over = 0;
        MPI_Finalized(&over);
        if (!over) MPI_Comm_free(&comm_);
    }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string role(int rank) const override { return "worker/" + std::to_string(rank); }
    void check() override {
        if (error_) error_.rethrow();
    }
    /// The others learn of it in the operation that they begin next. (What MPI itself reports, or
    /// what all have found together, is there already: see found().)
    void fail(const cluster_error& e) noexcept override {
        if (error_) return;
        error_.set(e);
        try {
            const std::lock_guard lock(mutex_);
            agree({}, 0, e.cause());
        } catch (...) {   // they know
        }
    }
    void ask_all_to_stop(const char*) override { asked_ = true; }   // rides with the next operation
    bool asked_to_stop() const override { return all_asked_; }

    MPI_Comm comm() const { return comm_; }
    bool any_thread() const { return any_thread_; }
    std::mutex& mutex() { return mutex_; }

    /// Throws what MPI says.
    void need(int result, const operation& o) const {
        if (result == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING] = "";
        int n = 0;
        MPI_Error_string(result, text, &n);
        found({rank_, role(rank_), "", name_of(o), o.step, std::string("MPI: ") + text});
    }

    /// All say what they are about to do, in one small all-reduce. Where they differ, or where one
    /// has failed, all throw the same error, before any data are touched.
    void agree(const operation& o, std::int64_t n, const std::string& failure = {}) {
        description mine{o, n, failure.empty() ? 0 : 1};
        const std::int64_t hash = hash_of(mine);
        std::int64_t most[4] = {hash, -hash, mine.failed, asked_ ? 1 : 0};
        need(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_INT64_T, MPI_MAX, comm_), o);
        if (most[3] != 0) all_asked_ = true;
        if (most[0] == -most[1] && most[2] == 0) return;
        std::vector<description> all(static_cast<std::size_t>(size_));
        need(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm_), o);
        for (int r = 0; r < size_; ++r)
            if (all[static_cast<std::size_t>(r)].failed) {
                char text[1000] = "";
                if (r == rank_) failure.copy(text, sizeof text - 1);
                need(MPI_Bcast(text, sizeof text, MPI_CHAR, r, comm_), o);
                found({r, role(r), "", name_of(o), o.step, text});
            }
        for (int r = 1; r < size_; ++r) {
            const description &a = all[static_cast<std::size_t>(r)], &b = all.front();
            if (!same(a.what, b.what) || a.n != b.n) found(differing(r, role(r), "", a.what, a.n, b.what, b.n, 0));
        }
    }

private:
    [[noreturn]] SINTER_COLD void found(const cluster_error& e) const {
        error_.set(e);
        error_.rethrow();
    }
    struct description {
        operation what;
        std::int64_t n, failed;
    };
    static std::int64_t hash_of(const description& d) {
        std::uint64_t h = 1469598103934665603u;
        for (const std::int64_t v : {static_cast<std::int64_t>(d.what.what), static_cast<std::int64_t>(d.what.type),
                                     static_cast<std::int64_t>(d.what.how), d.what.compared_step(),
                                     std::int64_t{d.what.bucket}, std::int64_t{d.what.root}, d.n}) {
            h = (h ^ static_cast<std::uint64_t>(v)) * 0x9E3779B97F4A7C15u;
            h ^= h >> 29;
        }
        return static_cast<std::int64_t>(h >> 2);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, level_ = 0;
    bool any_thread_ = false;
    std::mutex mutex_;   // one thread at a time calls MPI
    mutable first_error error_;
    std::atomic<bool> asked_{false}, all_asked_{false};
};

}   // namespace sinter::inline SINTER_TARGET::collective
