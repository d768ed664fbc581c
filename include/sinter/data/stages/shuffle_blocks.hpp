// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/shuffle.hpp>
#include <array>
#if SINTER_BODIES
#include <sinter/data/stages/counts.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct shuffle_blocks_step {
    std::int64_t block, window;
    std::uint64_t seed;
};

/// Shuffles elements that are dear to find one by one, and cheap one after the other, as in files on a disk that turns
/// or far away. Each `block` neighbours stay together: blocks come in a random order, and within windows of `window`
/// blocks elements are mixed. So an element may be anywhere in a pass, and while a window is read, only its blocks are.
///
///     data::tfrecords_indexed(files) | data::shuffle_blocks(1000, 10) | data::batch(64)
///
/// With block 1 it is not different from shuffle(), with window 1 only blocks are mixed. Another order each pass, the
/// same for equal (seed, pass); going on anywhere costs what a window does, at most. Memory: 4 bytes a block for up to
/// 2^20 blocks, which threads share, none above; for each thread 4 bytes an element of two windows where these have up
/// to 2^14, none above (base/permutation.hpp). option_error unless both are 1 or more, for a window of more than 2^61
/// elements, and where a pass has no end or more than 2^62.
SINTER_SELDOM shuffle_blocks_step shuffle_blocks(std::int64_t block, std::int64_t window, shuffle_options o = {});

#if SINTER_BODIES
SINTER_SELDOM_BODY shuffle_blocks_step shuffle_blocks(std::int64_t block, std::int64_t window, shuffle_options o) {
    stage_parts::at_least(1, block, "impossible block", "shuffle_blocks", "1 element or more");
    stage_parts::at_least(1, window, "impossible window", "shuffle_blocks", "1 block or more");
    if (stage_parts::product_of_sizes(block, window, "shuffle_blocks") > std::int64_t{1} << 61)
        throw option_error("too large a window", "shuffle_blocks", to_text({window, " blocks of ", block}),
                           "at most 2^61 elements");
    return {block, window, o.seed};
}
#endif

/// A place is an element's number in an order in which all blocks are full: the one that is not, the last of what comes
/// before, has places at its end that are left out.
template <indexed_stage Up>
class block_shuffled_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        std::shared_ptr<const stage_parts::pass_order> blocks;   ///< of those that are full
        std::int64_t pass = 0;
        std::int64_t short_block = 0;   ///< which one in the order is the one that is not full
        struct window {
            std::int64_t number = -1, begin = 0;
            std::vector<std::uint32_t> stored;   ///< the order of its elements
            std::optional<base::computed_permutation> computed;
        };
        std::array<window, 2> windows;   ///< the two that were read last: what comes soon may be in the next one
        std::size_t last = 0;
    };

    block_shuffled_stage(Up up, shuffle_blocks_step s)
        : up_(std::move(up)), s_(s), n_(up_.size()), full_(n_ / s.block), rest_(n_ % s.block),
          key_(base::stream(s.seed, base::fnv1a("data/shuffle_blocks"))),
          blocks_(std::make_shared<stage_parts::pass_orders>(full_, key_)) {}
    std::int64_t size() const { return n_; }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.blocks = blocks_->of(pass);
        s.pass = pass;
        for (auto& w : s.windows) w.number = -1;
        // Each place is as likely as any other, up to what a remainder of 64 bits leaves.
        const base::philox_block b = base::philox_at(key_, static_cast<std::uint64_t>(pass));
        const std::uint64_t random = std::uint64_t{b.word[1]} << 32 | b.word[0];
        const auto places = static_cast<std::uint64_t>(full_) + 1;
        s.short_block = rest_ == 0 ? full_ : static_cast<std::int64_t>(random % places);
    }
    decltype(auto) get(state& s, std::int64_t i) const { return up_.get(s.up, element_at(s, i)); }
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        up_.prefetch(s.up, element_at(s, i));
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("shuffle_blocks")("block", s_.block)("window", s_.window)("seed", s_.seed);
    }

private:
    static constexpr std::int64_t most_stored = 1 << 14;

    std::int64_t missing() const { return rest_ == 0 ? 0 : s_.block - rest_; }
    /// Of element i of the pass.
    std::int64_t place_of(const state& s, std::int64_t i) const {
        return i < s.short_block * s_.block + rest_ || rest_ == 0 ? i : i + missing();
    }
    /// How many elements come before block b of the order.
    std::int64_t before_block(const state& s, std::int64_t b) const {
        return b * s_.block - (b > s.short_block ? missing() : 0);
    }
    std::int64_t element_at(state& s, std::int64_t i) const {
        const std::int64_t number = place_of(s, i) / s_.block / s_.window;
        if (s.windows[s.last].number != number) s.last ^= 1;
        auto& w = s.windows[s.last];
        if (w.number != number) enter(s, w, number);
        const std::int64_t within = i - w.begin;
        const std::int64_t to = w.computed ? (*w.computed)(within) : w.stored[static_cast<std::size_t>(within)];
        const std::int64_t place = place_of(s, w.begin + to), b = place / s_.block;
        const std::int64_t source = b == s.short_block ? full_ : (*s.blocks)(b - (b > s.short_block));
        return source * s_.block + place % s_.block;
    }
    void enter(const state& s, typename state::window& w, std::int64_t number) const {
        const std::int64_t blocks = full_ + (rest_ > 0), first = number * s_.window;
        const std::int64_t last = s_.window < blocks - first ? first + s_.window : blocks;
        w.number = -1;   // should this throw
        w.begin = before_block(s, first);
        const std::int64_t n = before_block(s, last) - w.begin;
        const std::uint64_t key = base::stream(key_, static_cast<std::uint64_t>(number) + 1);
        w.computed.reset();
        if (n > most_stored) w.computed.emplace(n, key, s.pass);
        else w.stored = base::stored_permutation(static_cast<std::uint32_t>(n), key, s.pass);
        w.number = number;
    }

    Up up_;
    shuffle_blocks_step s_;
    std::int64_t n_, full_, rest_;   ///< elements, full blocks, and elements of the one that is not
    std::uint64_t key_;
    std::shared_ptr<stage_parts::pass_orders> blocks_;
};

template <element_stage Up>
auto operator|(Up up, shuffle_blocks_step s) {
    static_assert(indexed_stage<Up>, "shuffle_blocks() needs a source in which each element can be found by its "
                                     "number; a stream, such as what filter gives, takes shuffle(n)");
    if constexpr (indexed_stage<Up>) {
        if (up.size() == endless)
            throw option_error("shuffle_blocks() takes all elements of a pass", "shuffle_blocks", "a pass without end",
                               "take(n) before it");
        if (up.size() > std::int64_t{1} << 62)
            throw option_error("more elements than are shuffled", "shuffle_blocks", to_text({up.size()}),
                               "at most 2^62");
        return block_shuffled_stage<Up>(std::move(up), s);
    } else {
        return refused_stage{};
    }
}

} // namespace sinter::data
