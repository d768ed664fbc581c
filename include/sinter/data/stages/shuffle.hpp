// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/base/permutation.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

/// The order of one pass: stored for up to 2^20 elements, of which all orders are equally likely then, computed above.
class pass_order {
public:
    static constexpr std::int64_t most_stored = std::int64_t{1} << 20;

    pass_order(std::int64_t n, std::uint64_t key, std::int64_t pass) {
        if (n <= most_stored) stored_ = base::stored_permutation(static_cast<std::uint32_t>(n), key, pass);
        else computed_.emplace(n, key, pass);
    }
    std::int64_t operator()(std::int64_t i) const {
        return computed_ ? (*computed_)(i) : stored_[static_cast<std::size_t>(i)];
    }

private:
    std::vector<std::uint32_t> stored_;
    std::optional<base::computed_permutation> computed_;
};

/// Orders of the passes that are being read: threads share them. The two that were asked for last are kept, since what
/// is filled ahead crosses the end of a pass.
class pass_orders {
public:
    pass_orders(std::int64_t n, std::uint64_t seed) : n_(n), key_(base::stream(seed, base::fnv1a("data/shuffle"))) {}
    std::shared_ptr<const pass_order> of(std::int64_t pass) const {
        base::mutex_lock hold(guard_);
        if (last_.order && last_.pass == pass) return last_.order;
        std::swap(last_, before_);
        if (!last_.order || last_.pass != pass) last_ = {pass, std::make_shared<const pass_order>(n_, key_, pass)};
        return last_.order;
    }

private:
    struct kept {
        std::int64_t pass = 0;
        std::shared_ptr<const pass_order> order;
    };
    std::int64_t n_;
    std::uint64_t key_;
    mutable base::mutex guard_;
    mutable kept last_ SINTER_GUARDED_BY(guard_), before_ SINTER_GUARDED_BY(guard_);
};

} // namespace stage_parts

template <indexed_stage Up>
class shuffled_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up;
        std::shared_ptr<const stage_parts::pass_order> order;
    };

    shuffled_stage(Up up, std::uint64_t seed)
        : up_(std::move(up)), seed_(seed), orders_(std::make_shared<stage_parts::pass_orders>(up_.size(), seed)) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.order = orders_->of(pass);
    }
    decltype(auto) get(state& s, std::int64_t i) const { return up_.get(s.up, (*s.order)(i)); }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        up_.prefetch(s.up, (*s.order)(i));
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("shuffle")("seed", seed_);
    }

private:
    Up up_;
    std::uint64_t seed_;
    std::shared_ptr<stage_parts::pass_orders> orders_;
};

/// All elements of a pass in a random order, another one each pass, the same for equal (seed, pass). Going on in the
/// middle of a pass costs nothing, and memory is 4 bytes an element for up to 2^20 of them, constant above
/// (base/permutation.hpp). option_error where a pass has no end.
template <element_stage Up>
auto operator|(Up up, shuffle_all_step s) {
    static_assert(indexed_stage<Up>, "shuffle() needs a source in which each element can be found by its number; a "
                                     "stream, such as what filter gives, takes shuffle(n)");
    if constexpr (indexed_stage<Up>) {
        if (up.size() == endless)
            throw option_error("shuffle() takes all elements of a pass", "shuffle", "a pass without end",
                               "take(n) before it");
        return shuffled_stage<Up>(std::move(up), s.seed);
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
