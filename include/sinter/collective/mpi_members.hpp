// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sinter/base/message.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/mpi_departures.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

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
        departures_ = &mpi_departures::of_process();
        job_ = departures_->begin_job();
        pieces_ = std::vector<traffic>(static_cast<std::size_t>(size_));
        if (size_ > 1 && base::says(message_level::normal))
            base::say(message_level::normal,
                      to_text({role(rank_), " is in a job of ", size_, " members that MPI has started"}), role(rank_));
    }
    ~mpi_members() override {
        int over = 0;
        MPI_Finalized(&over);
        if (over) return;
        for (int r = 0; r < size_; ++r)
            if (r != rank_) departures_->leave(job_, r, {agreements_, of(r).sent});
        if (!sent_) MPI_Comm_free(&comm_);   // a later one of the same number would get what is on its way
    }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string role(int rank) const override { return "worker/" + std::to_string(rank); }
    void check() override {
        if (error_) error_.rethrow();
    }
    /// The others learn of it in the operation that they begin next, or where they wait for bytes of another member;
    /// it returns when all have that have not left. (What MPI itself reports, or what all have found together, is there
    /// already: see found().)
    void fail(const cluster_error& e) noexcept override {
        if (error_) return;
        error_.set(e);
        try {
            if (many_threads()) call_all(own_failure());
            agree_on_failure();
        } catch (...) {   // they know
        }
    }
    /// For who waits for bytes of another member, and comes to no operation: throws the job's error once there is one.
    void look() {
        check();
        if (size_ == 1) return;
        departures_->look();
        int there = 0;
        need(MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, comm_, &there, MPI_STATUS_IGNORE), {});
        if (!there) return;
        agree_on_failure();
        check();
    }
    void ask_all_to_stop(const char*) override { asked_ = true; }   // rides with the next operation
    bool asked_to_stop() const override { return all_asked_; }

    /// As of the last look(): it has left, and all that it has sent has been received.
    bool has_left(int r) const {
        const auto left = departures_->left(job_, r);
        return left && of(r).received >= left->pieces;
    }
    static constexpr const char* left_words = "it has left the job, and this member still waits for it";

    MPI_Comm comm() const { return comm_; }
    bool any_thread() const { return any_thread_; }
    std::mutex& mutex() { return mutex_; }
    /// Throws device_error unless several threads may call MPI at once: an operation that waits within MPI must not
    /// keep `what` waiting.
    void need_threads(const char* what) const {
        if (!many_threads() && size_ > 1)
            throw device_error("MPI was initialised for fewer threads", what, "less than it", "MPI_THREAD_MULTIPLE");
    }
    /// Pieces of the job's operations, calls to agree on a failure, messages; from the last one on, groups.
    static constexpr int piece_tag = 1, failure_tag = 2, message_tag = 3;
    /// Begins to send what may still be on its way when this object is gone.
    void send(int peer, int tag, const std::vector<std::byte>& bytes, MPI_Request& r) {
        sent_ = true;
        if (tag != failure_tag) ++of(peer).sent;
        need(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, comm_, &r), {});
    }
    /// Goes on receiving the next message of a member, without waiting; `r` is null before the first call. True: it
    /// is there, whole.
    bool receive(int peer, int tag, std::vector<std::byte>& bytes, MPI_Request& r) {
        int there = 0;
        if (r == MPI_REQUEST_NULL) {
            MPI_Message m;
            MPI_Status s;
            need(MPI_Improbe(peer, tag, comm_, &there, &m, &s), {});
            if (!there) return false;
            int n = 0;
            MPI_Get_count(&s, MPI_BYTE, &n);
            bytes.resize(static_cast<std::size_t>(n));
            need(MPI_Imrecv(bytes.data(), n, MPI_BYTE, &m, &r), {});
        }
        need(MPI_Test(&r, &there, MPI_STATUS_IGNORE), {});
        if (there) ++of(peer).received;
        return there != 0;
    }
    std::int64_t largest_tag() const {
        const int* most = nullptr;
        int there = 0;
        MPI_Comm_get_attr(comm_, MPI_TAG_UB, &most, &there);
        return there ? *most : 32767;
    }
    /// Nobody waits for it any more; its bytes stay.
    static void leave(MPI_Request& r, std::vector<std::byte>& bytes) {
        int over = 0;
        MPI_Finalized(&over);
        if (r == MPI_REQUEST_NULL || over) return;
        keep(bytes);
        MPI_Request_free(&r);
    }

    /// Throws what MPI says.
    void need(int result, const operation& o) const {
        if (result == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING] = "";
        int n = 0;
        MPI_Error_string(result, text, &n);
        found({rank_, role(rank_), "", name_of(o), o.step, std::string("MPI: ") + text});
    }

    /// All say what they are about to do, in one small all-reduce. Where they differ, or where one
    /// has failed, all throw the same error, before any data are touched. `called`: this one does nothing but hear
    /// who has failed. Under the mutex.
    void agree(const operation& o, std::int64_t n, bool called = false) {
        description mine{o, n, 0};
        const std::int64_t hash = hash_of(mine);
        const four most = most_of_all({hash, -hash, called || error_ ? 1 : 0, asked_ ? 1 : 0}, o);
        if (most[3] != 0) all_asked_ = true;
        if (most[0] == -most[1] && most[2] == 0) return;
        failure own;   // perhaps of another thread, which waits for this one to end
        if (error_) mine.failed = 1, own = own_failure();
        std::vector<description> all(static_cast<std::size_t>(size_));
        need(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm_), o);
        agreed_ = true;
        for (int r = 0; r < size_; ++r)
            if (all[static_cast<std::size_t>(r)].failed) {
                need(MPI_Bcast(&own, sizeof own, MPI_BYTE, r, comm_), o);
                found({own.rank, role(own.rank), "", own.operation, own.step, own.cause});
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
    struct traffic {
        std::atomic<std::int64_t> sent{0}, received{0};
    };
    traffic& of(int r) { return pieces_[static_cast<std::size_t>(r)]; }
    const traffic& of(int r) const { return pieces_[static_cast<std::size_t>(r)]; }
    using four = std::array<std::int64_t, 4>;
    struct description {
        operation what;
        std::int64_t n, failed;
    };
    struct failure {
        std::int64_t step = -1;
        int rank = 0;
        char operation[200] = "", cause[1000] = "";
    };
    /// An all-reduce that is given up once a member has left that has no part in it. Nobody goes on from it then.
    four most_of_all(const four& mine, const operation& o) {
        std::memcpy(most_.data(), mine.data(), sizeof mine);
        ++agreements_;
        MPI_Request r = MPI_REQUEST_NULL;
        need(MPI_Iallreduce(MPI_IN_PLACE, most_.data(), 4, MPI_INT64_T, MPI_MAX, comm_, &r), o);
        int there = 0;
        for (std::uint32_t k = 1;; ++k) {
            need(MPI_Test(&r, &there, MPI_STATUS_IGNORE), o);
            if (there) break;
            if (k % tests_between_looks == 0) refuse_departed(o);
            if (k % tests_between_yields == 0) base::yield_core();
        }
        four all;
        std::memcpy(all.data(), most_.data(), sizeof all);
        return all;
    }
    static constexpr std::uint32_t tests_between_looks = 1024, tests_between_yields = 64;
    /// Throws where a member has left before the agreement that is under way: what another one has called all for, or
    /// that it has left.
    void refuse_departed(const operation& o) {
        departures_->look();
        int gone = 0;
        for (; gone < size_; ++gone)
            if (const auto left = departures_->left(job_, gone); left && left->agreements < agreements_) break;
        if (gone == size_) return;
        agreed_ = sent_ = true;
        keep(most_);
        int called = 0;
        MPI_Status s;
        need(MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, comm_, &called, &s), o);
        if (!called) found({gone, role(gone), "", name_of(o), o.step, left_words});
        failure f;
        need(MPI_Recv(&f, sizeof f, MPI_BYTE, s.MPI_SOURCE, failure_tag, comm_, MPI_STATUS_IGNORE), o);
        found({f.rank, role(f.rank), "", f.operation, f.step, f.cause});
    }
    /// For ever: MPI may still read or write them.
    static void keep(std::vector<std::byte>& bytes) {
        static std::mutex mutex;
        static auto& kept = *new std::vector<std::vector<std::byte>>;
        const std::lock_guard lock(mutex);
        kept.push_back(std::move(bytes));
    }
    bool many_threads() const { return level_ == MPI_THREAD_MULTIPLE; }
    failure own_failure() const {
        failure f;
        try {
            error_.rethrow();
        } catch (const cluster_error& e) {
            f.step = e.step();
            f.rank = e.rank() >= 0 && e.rank() < size_ ? e.rank() : rank_;
            e.operation().copy(f.operation, sizeof f.operation - 1);
            e.cause().copy(f.cause, sizeof f.cause - 1);
        }
        return f;
    }
    /// Those that wait in look() come to agree().
    void call_all(const failure& f) {
        for (int r = 0; r < size_; ++r) {
            if (r == rank_) continue;
            std::vector<std::byte> bytes(sizeof f);
            std::memcpy(bytes.data(), &f, sizeof f);
            MPI_Request request = MPI_REQUEST_NULL;
            send(r, failure_tag, bytes, request);
            leave(request, bytes);
        }
    }
    void agree_on_failure() {
        const std::lock_guard lock(mutex_);
        if (!agreed_) agree({}, 0, true);
    }
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
    mpi_departures* departures_ = nullptr;
    std::int64_t job_ = 0, agreements_ = 0;   // agreements that this member has begun
    std::vector<traffic> pieces_;             // by member, without those of the job's operations
    std::vector<std::byte> most_ = std::vector<std::byte>(sizeof(four));
    std::mutex mutex_;   // one thread at a time calls MPI
    bool agreed_ = false;   // on an error: nobody comes any more
    mutable first_error error_;
    std::atomic<bool> asked_{false}, all_asked_{false}, sent_{false};
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
