// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <sinter/collective/combine.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/shared_segment.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Operations among processes of one machine over memory that all have mapped. Data pass through it
/// in chunks that stay in the caches: each member copies the others' parts of its chunk there,
/// combines its own part of all chunks, in the order of all_reduce_tree, and copies the others'
/// results out. Two buffers a member: one chunk is copied in while the one before is combined.
class shared_memory_engine final : public engine {
public:
    /// Of a member's chunk, and of what is combined by every member for itself.
    static constexpr std::int64_t chunk_bytes = 256 << 10, small_bytes = 8 << 10;

    static std::size_t segment_bytes(int members) {
        return static_cast<std::size_t>(members) * (sizeof(record) + 2 * static_cast<std::size_t>(chunk_bytes));
    }
    /// `segment`: of segment_bytes(members), zeros at first.
    shared_memory_engine(std::shared_ptr<membership> m, shared_segment segment)
        : members_(std::move(m)), segment_(std::move(segment)), rank_(members_->rank()), size_(members_->size()),
          may_spin_(members_->may_spin()), sources_(static_cast<std::size_t>(size_)) {}

    void perform(const operation& o, std::int64_t, void* memory, std::int64_t n) override {
        if (size_ == 1) return;
        record_of(rank_).described[described_ & 1] = {o, n};
        check_described_ = true;
        const job j{o, static_cast<std::byte*>(memory), n, bytes_of(o.type)};
        switch (o.what) {
            case kind::all_reduce:
            case kind::all_reduce_tree:
                if (n * j.element_bytes <= small_bytes) reduce_small(j);
                else reduce(j, true);
                break;
            case kind::reduce_scatter:
            case kind::reduce_scatter_tree: reduce(j, false); break;
            case kind::all_gather:
            case kind::shift:
                gather([&](int r) {
                    const auto [first, end] = part_of(n, r, size_);
                    return span<std::byte>(j.data + first * j.element_bytes,
                                           static_cast<std::size_t>((end - first) * j.element_bytes));
                }, o.what == kind::all_gather ? size_ - 1 : 1);
                break;
            case kind::broadcast:
                gather([&](int r) {
                    return span<std::byte>(j.data, r == o.root ? static_cast<std::size_t>(n * j.element_bytes) : 0);
                });
                break;
            case kind::all_gather_rows:
                gather([&](int r) { return span<std::byte>(j.data + r * n, sizeof(row_slot)); });
                gather([&](int r) {
                    row_slot head;
                    std::memcpy(&head, j.data + r * n, sizeof head);
                    refuse_slot(o, r, head, n);
                    return span<std::byte>(j.data + r * n + static_cast<std::int64_t>(sizeof head),
                                           static_cast<std::size_t>(head.bytes));
                });
                break;
            case kind::barrier: wait_for_all(); break;
        }
        ++described_;
    }

private:
    struct description {
        operation what;
        std::int64_t n = 0;
    };
    struct record {
        shared_counter met;
        alignas(64) description described[2];   // of this operation and of the one before: a member may be late
    };
    struct job {
        operation what;
        std::byte* data;
        std::int64_t n, element_bytes;
    };

    std::shared_ptr<membership> members_;
    shared_segment segment_;
    int rank_, size_;
    bool may_spin_, check_described_ = false;
    std::uint32_t round_ = 0;
    std::int64_t use_ = 0, described_ = 0;   // chunks and operations so far
    std::vector<void*> sources_;

    record& record_of(int r) { return reinterpret_cast<record*>(segment_.data())[r]; }
    /// Member r's buffer for a chunk.
    std::byte* buffer(int r, std::int64_t use) {
        return segment_.data() + static_cast<std::size_t>(size_) * sizeof(record) + (2 * r + (use & 1)) * chunk_bytes;
    }

    /// Returns when all have come. The first time in an operation it also compares what they do.
    void wait_for_all() {
        ++round_;
        record_of(rank_).met.raise_to(round_);
        for (int k = 1; k < size_; ++k) {
            const int r = (rank_ + k) % size_;
            while (!record_of(r).met.reaches(round_, may_spin_, 0.02)) members_->check();
        }
        if (!check_described_) return;
        check_described_ = false;
        const description first = record_of(0).described[described_ & 1];
        for (int r = 1; r < size_; ++r) {
            const description& d = record_of(r).described[described_ & 1];
            if (!same(d.what, first.what) || d.n != first.n)
                throw differing(members_->job_rank(r), members_->role(r), members_->address(r), d.what, d.n,
                                first.what, first.n, members_->job_rank(0));
        }
    }

    /// One meeting: everybody combines everything.
    void reduce_small(const job& j) {
        const std::int64_t bytes = j.n * j.element_bytes;
        if (bytes > 0) std::memcpy(buffer(rank_, use_), j.data, static_cast<std::size_t>(bytes));
        wait_for_all();
        for (int r = 0; r < size_; ++r) sources_[static_cast<std::size_t>(r)] = buffer(r, use_);
        combine_tree(j.what.type, j.what.how, j.data, sources_.data(), size_, 0, j.n);
        ++use_;
    }

    /// Chunk i is piece i of every part. In a member's buffer lie its pieces of the others' parts,
    /// and then its own part's result. Of the chunks, one is copied out, the next combined and the
    /// one after it copied in between two meetings; a buffer is used again for what nobody reads
    /// any more.
    void reduce(const job& j, bool share) {
        const std::int64_t fit = std::max<std::int64_t>(chunk_bytes / size_ / j.element_bytes / 16 * 16, 16);
        std::int64_t longest = 0;
        for (int r = 0; r < size_; ++r) {
            const auto [first, end] = part_of(j.n, r, size_);
            longest = std::max(longest, end - first);
        }
        const std::int64_t chunks = std::max<std::int64_t>((longest + fit - 1) / fit, 1);
        const auto piece = [&](int r, std::int64_t i) {
            const auto [first, end] = part_of(j.n, r, size_);
            const std::int64_t from = std::min(first + i * fit, end);
            return part_range{from, std::min(from + fit, end)};
        };
        const auto place = [&](int of, std::int64_t i, int part) {
            return buffer(of, use_ + i) + part * fit * j.element_bytes;
        };
        const auto copy_in = [&](std::int64_t i) {
            for (int k = 1; k < size_; ++k) {
                const int r = (rank_ + k) % size_;
                const auto [first, end] = piece(r, i);
                copy(place(rank_, i, r), j.data + first * j.element_bytes, (end - first) * j.element_bytes);
            }
        };
        const auto combine_own = [&](std::int64_t i) {
            const auto [first, end] = piece(rank_, i);
            std::byte* const mine = j.data + first * j.element_bytes;
            for (int r = 0; r < size_; ++r)
                sources_[static_cast<std::size_t>(r)] = r == rank_ ? mine : place(r, i, rank_);
            combine_tree(j.what.type, j.what.how, mine, sources_.data(), size_, 0, end - first);
            if (share) copy(place(rank_, i, rank_), mine, (end - first) * j.element_bytes);
        };
        const auto copy_out = [&](std::int64_t i) {
            for (int k = 1; k < size_; ++k) {
                const int r = (rank_ + k) % size_;
                const auto [first, end] = piece(r, i);
                copy(j.data + first * j.element_bytes, place(r, i, r), (end - first) * j.element_bytes);
            }
        };
        copy_in(0);
        for (std::int64_t i = -1; i < chunks; ++i) {
            if (i + 1 < chunks || share) wait_for_all();
            if (i >= 0 && share) copy_out(i);
            if (i + 1 < chunks) combine_own(i + 1);
            if (i + 2 < chunks) copy_in(i + 2);
        }
        use_ += chunks;
    }

    /// Member r has range(r); the `others` that follow it get it: chunk after chunk of all of them.
    template <class Range>
    void gather(Range range, int others = -1) {
        if (others < 0) others = size_ - 1;
        if (check_described_) wait_for_all();   // before ranges are believed
        std::int64_t longest = 0;
        for (int r = 0; r < size_; ++r) longest = std::max(longest, static_cast<std::int64_t>(range(r).size()));
        for (std::int64_t at = 0; at < longest; at += chunk_bytes, ++use_) {
            const auto length = [&](const span<std::byte>& s) {
                return std::clamp<std::int64_t>(static_cast<std::int64_t>(s.size()) - at, 0, chunk_bytes);
            };
            const span<std::byte> mine = range(rank_);
            copy(buffer(rank_, use_), mine.data() + at, length(mine));
            wait_for_all();
            for (int k = 1; k <= others; ++k) {
                const int r = (rank_ + size_ - k) % size_;
                const span<std::byte> its = range(r);
                copy(its.data() + at, buffer(r, use_), length(its));
            }
        }
    }
    static void copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
        if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    void refuse_slot(const operation& o, int r, const row_slot& head, std::int64_t n) {
        if (head.bytes >= 0 && head.bytes <= n - static_cast<std::int64_t>(sizeof head)) return;
        throw cluster_error(members_->job_rank(r), members_->role(r), members_->address(r), name_of(o), o.step,
                            "its slot of " + std::to_string(n) + " bytes says that " + std::to_string(head.bytes) +
                                " follow");
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
