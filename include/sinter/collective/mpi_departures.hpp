// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <sinter/collective/mpi_library.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Who has left which of this process's jobs, so that nobody waits for them. Told over a communicator of MPI's that
/// lasts as long as MPI: a job's own ends with the job.
class mpi_departures {
public:
    /// All processes call it first at the same time.
    static mpi_departures& of_process() {
        static mpi_departures& all = *new mpi_departures;
        return all;
    }
    /// The number of a job that begins, in all processes.
    std::int64_t begin_job() {
        const std::lock_guard lock(mutex_);
        left_[++last_];
        return last_;
    }
    /// What a member has had a part in until it left.
    struct part {
        std::int64_t agreements = 0;
        std::int64_t pieces = 0;   ///< sent to this member. They may come later than the word that it has left
    };
    /// This member leaves; what it has to say to member r.
    void leave(std::int64_t job, int r, const part& p) {
        const std::lock_guard lock(mutex_);
        left_.erase(job);
        const auto* const said = new departure{job, p};   // stays: MPI may read it at any time
        MPI_Request request = MPI_REQUEST_NULL;
        if (MPI_Isend(said, sizeof *said, MPI_BYTE, r, 0, comm_, &request) == MPI_SUCCESS) MPI_Request_free(&request);
    }
    /// Null: it has not left.
    std::optional<part> left(std::int64_t job, int r) const {
        const std::lock_guard lock(mutex_);
        const auto of_job = left_.find(job);
        if (of_job == left_.end()) return {};
        const auto at = of_job->second.find(r);
        return at == of_job->second.end() ? std::optional<part>() : at->second;
    }
    /// Takes in what has come.
    void look() {
        const std::lock_guard lock(mutex_);
        while (true) {
            int there = 0;
            MPI_Message m;
            MPI_Status s;
            if (MPI_Improbe(MPI_ANY_SOURCE, 0, comm_, &there, &m, &s) != MPI_SUCCESS || !there) return;
            departure d;
            if (MPI_Mrecv(&d, sizeof d, MPI_BYTE, &m, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
            if (const auto at = left_.find(d.job); at != left_.end()) at->second[s.MPI_SOURCE] = d.until;
        }
    }

private:
    struct departure {
        std::int64_t job = 0;
        part until;
    };
    MPI_Comm comm_ = MPI_COMM_NULL;
    mutable std::mutex mutex_;
    std::int64_t last_ = 0;
    std::map<std::int64_t, std::map<int, part>> left_;   // of the jobs that go on

    mpi_departures() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
