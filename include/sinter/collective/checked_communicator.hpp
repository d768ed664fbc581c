// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/collective/communicator.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::collective {

/// A communicator whose sums are checked in one step of `every` (checked_communicator below); the same one where that
/// is 0, or there is none.
SINTER_APART std::unique_ptr<communicator> checked(std::unique_ptr<communicator> c, std::int64_t every);

}   // namespace sinter::inline SINTER_ORDINARY::collective

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/forwarding_communicator.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Another communicator whose sums of floats are checked, those of one step in `every`: also
/// against damage that no checksum on the way sees, such as a bit that flips in the memory of a
/// result. Each member's numbers are projected on one random vector of signs; the projections' sum
/// must be the result's projection, but for rounding. Damage to one element is seen where it is
/// more than about a millionth of the root of the sum of all elements' squares. data_error, on all
/// members, names those whose result is wrong. Sums alone are checked, not reduce_scatter.
class checked_communicator final : public forwarding_communicator {
public:
    checked_communicator(std::unique_ptr<communicator> c, std::int64_t every)
        : forwarding_communicator(std::move(c)), every_(every), wrong_(static_cast<std::size_t>(c_->size())) {
        pending_.reserve(64);
    }
    ticket start(const operation& o, void* data, std::int64_t n, bool more) override {
        const bool sums = o.what == kind::all_reduce || o.what == kind::all_reduce_tree;
        if (!sums || o.type != element::f32 || o.how != reduction::sum || n == 0 ||
            o.compared_step() % every_ != 0)
            return c_->start(o, data, n, more);
        const projection mine = project(static_cast<const float*>(data), n, seed_of(o));
        const ticket t = c_->start(o, data, n, more);
        pending_.push_back({t, o, static_cast<const float*>(data), n, mine});
        return t;
    }
    void wait(ticket t) override {
        c_->wait(t);
        std::size_t done = 0;
        while (done < pending_.size() && pending_[done].number <= t) ++done;
        if (done == 0) return;
        const sum* at = nullptr;   // what is wrong first
        std::string fault;
        for (std::size_t i = 0; i < done; ++i)
            if (fault.empty()) fault = verify(pending_[i]), at = &pending_[i];
        const std::string where = fault.empty() ? "" : to_text({name_of(at->what), ", step ", at->what.step});
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
        if (!fault.empty())
            throw data_error("a sum over members is not the sum of what they had: memory or a device that is not sound",
                             where, fault, "what a random projection of all members' numbers says");
    }
    std::unique_ptr<communicator> split(int color, int key) override;

private:
    struct projection {
        double on_signs = 0, squares = 0;
    };
    struct sum {
        ticket number;
        operation what;
        const float* data;
        std::int64_t n;
        projection mine;
    };
    std::int64_t every_;
    std::vector<sum> pending_;   // started, and not verified
    std::vector<double> wrong_;  // by rank

    static std::uint64_t seed_of(const operation& o) {
        return static_cast<std::uint64_t>(o.compared_step()) * 1000003 + static_cast<std::uint64_t>(o.bucket + 1);
    }
    /// Signs are bits of splitmix64.
    static projection project(const float* x, std::int64_t n, std::uint64_t seed) {
        projection p;
        for (std::int64_t i = 0; i < n; i += 64) {
            std::uint64_t bits = (seed += 0x9e3779b97f4a7c15u);
            bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
            bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
            bits ^= bits >> 31;
            for (std::int64_t j = i; j < std::min(n, i + 64); ++j, bits >>= 1) {
                const auto v = static_cast<double>(x[j]);
                p.on_signs += bits & 1 ? v : -v;
                p.squares += v * v;
            }
        }
        return p;
    }
    /// All members call it in the same order. Empty, or whose result is wrong.
    std::string verify(const sum& s) {
        const projection result = project(s.data, s.n, seed_of(s.what));
        double all[2] = {s.mine.on_signs, s.mine.squares};
        c_->all_reduce(span<double>(all, 2));
        const double reach =
            8 * static_cast<double>(std::numeric_limits<float>::epsilon()) * size() * std::sqrt(all[1]);
        // What is not finite before is not this check's affair, nor sums that may overflow.
        const bool known = all[1] < 1e60;
        std::fill(wrong_.begin(), wrong_.end(), 0.);
        const bool right = std::abs(result.on_signs - all[0]) <= reach + 1e-30;
        wrong_[static_cast<std::size_t>(rank())] = known && !right;
        c_->all_reduce(span<double>(wrong_.data(), wrong_.size()));
        std::string who;
        for (std::size_t r = 0; r < wrong_.size(); ++r)
            if (wrong_[r] > 0) who += (who.empty() ? "another one on rank " : ", ") + std::to_string(r);
        return who;
    }
};

SINTER_APART std::unique_ptr<communicator> checked(std::unique_ptr<communicator> c, std::int64_t every) {
    if (!c || every == 0) return c;
    return std::make_unique<checked_communicator>(std::move(c), every);
}

inline std::unique_ptr<communicator> checked_communicator::split(int color, int key) {
    return checked(c_->split(color, key), every_);
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
#endif
