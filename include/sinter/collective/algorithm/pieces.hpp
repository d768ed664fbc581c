// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/combine.hpp>
#include <sinter/collective/transport.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// An operation's elements in `parts` parts, each in the same number of pieces: at least one, since
/// an empty piece, too, shows whether members do the same.
class pieces {
public:
    pieces(const job& j, const workshop& w, int parts) : job_(j), parts_(parts), bytes_(bytes_of(j.what.type)) {
        std::int64_t longest = 0;
        for (int p = 0; p < parts; ++p) {
            const auto [first, end] = part_of(j.n, p, parts);
            longest = std::max(longest, end - first);
        }
        const std::int64_t fit = std::max<std::int64_t>(w.piece_bytes() / bytes_, 1);
        each_ = std::max<std::int64_t>((longest + fit - 1) / fit, 1);
        length_ = (longest + each_ - 1) / each_;
        if (length_ + 15 <= fit) length_ = (length_ + 15) / 16 * 16;   // whole cache lines
    }
    std::int64_t of_a_part() const { return each_; }

    struct range {
        std::int64_t first, n;
    };
    /// The elements of piece s of part p.
    range at(int p, std::int64_t s) const {
        const auto [first, end] = part_of(job_.n, p, parts_);
        const std::int64_t from = std::min(first + s * length_, end);
        return {from, std::min(first + (s + 1) * length_, end) - from};
    }
    workshop::outgoing send(int p, std::int64_t s) const {
        const auto [first, n] = at(p, s);
        return {first, {job_.data + first * bytes_, static_cast<std::size_t>(n * bytes_)}};
    }
    /// To its place.
    workshop::incoming receive(int p, std::int64_t s) const {
        const auto [first, n] = at(p, s);
        return {first, {job_.data + first * bytes_, static_cast<std::size_t>(n * bytes_)}};
    }
    /// To memory beside it, where it is then combined.
    workshop::incoming receive_in(std::byte* scratch, int p, std::int64_t s) const {
        const auto [first, n] = at(p, s);
        return {first, {scratch, static_cast<std::size_t>(n * bytes_)}};
    }
    /// What came is the first operand, or the second.
    void combine(const std::byte* came, bool is_first, int p, std::int64_t s) const {
        const auto [first, n] = at(p, s);
        std::byte* const mine = job_.data + first * bytes_;
        if (is_first) collective::combine(job_.what.type, job_.what.how, mine, came, mine, n);
        else collective::combine(job_.what.type, job_.what.how, mine, mine, came, n);
    }

private:
    const job& job_;
    int parts_;
    std::int64_t bytes_, each_, length_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
