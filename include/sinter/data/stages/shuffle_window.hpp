// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <utility>
#include <vector>

/// shuffle(n): an order in which elements stay near their places, so that a pass can be read on from anywhere.
///
/// Inputs are cut into blocks, each block is put into a random order and cut into K parts. Group g of the output
/// is part 0 of block g, part 1 of block g - 1, and so on, again in a random order. In parts of p elements and with K
/// parts:
///
/// a block has K p elements, and so has a group, but the first and the last K - 1 groups, which have fewer;
/// group g begins with output g K p - p K (K - 1) / 2 at the earliest, and its last input is (g + 1) K p - 1: so an
///     element comes at most p K (K + 1) / 2 - 1 <= n - 1 places early, which says how large p may be;
/// group g is made of K blocks, and at its end one more is needed: K (K + 1) p <= 2 n inputs, which are read again when
///     a pass is gone on with.
///
/// The more parts a block has, the farther elements move for the same n: on average n / 3 places with one part, 0.36 n
/// with two, 0.44 n with seven, and never more than n / 2.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

struct shuffle_parts {
    std::int64_t window, per_block, part;   ///< n; the parts of a block; the elements of a part

    constexpr explicit shuffle_parts(std::int64_t n)
        : window(n), per_block(n >= 112 ? 7 : n >= 12 ? 3 : n >= 3 ? 2 : 1),
          part(n / (per_block * (per_block + 1) / 2)) {}
    constexpr std::int64_t block() const { return per_block * part; }
    /// The block that group g still needs and group g + 1 does not.
    constexpr std::int64_t oldest(std::int64_t g) const { return g < per_block ? 0 : g - per_block + 1; }
    /// So many elements come before group g, where a pass has n elements.
    constexpr std::int64_t before(std::int64_t g, std::int64_t n) const {
        const std::int64_t whole = n / block(), blocks = g < whole ? g : whole;
        const std::int64_t given = g - per_block + 1 < 0 ? 0 : g - per_block + 1 < blocks ? g - per_block + 1 : blocks;
        const std::int64_t parts = (blocks - given) * (g - given + g - blocks + 1) / 2;   // of those that are begun
        std::int64_t last = g <= whole ? 0 : g - whole < per_block ? (g - whole) * part : block();
        if (last > n % block()) last = n % block();
        return given * block() + parts * part + last;
    }
};

/// Puts `all` into a random order, each as likely as any other (Fisher and Yates).
template <class T>
void put_in_random_order(std::vector<T>& all, std::uint64_t key, std::int64_t number, std::int64_t pass) {
    random_stream random(base::stream(key, static_cast<std::uint64_t>(number)), static_cast<std::uint64_t>(pass));
    for (std::size_t i = all.size(); i > 1; --i) {
        const std::size_t j = random.below(static_cast<std::uint32_t>(i));
        if (j != i - 1) std::swap(all[j], all[i - 1]);
    }
}

/// What both kinds of window shuffles are made of: the keys of their random numbers.
struct shuffle_keys {
    std::uint64_t blocks, groups;

    constexpr explicit shuffle_keys(std::uint64_t seed)
        : blocks(base::stream(seed, base::fnv1a("data/shuffle window, blocks"))),
          groups(base::stream(seed, base::fnv1a("data/shuffle window, groups"))) {}
};

} // namespace stage_parts

/// Of a stream. What is kept are tickets, so that values are computed where they are needed.
template <element_stage Up>
class window_shuffled_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using ticket = stage_parts::ticket_of<Up>;
    struct cursor {
        stage_parts::cursor_of<Up> up{};   ///< at the beginning of the oldest block that the group is made of
        std::int64_t group = 0, place = 0;
    };

private:
    struct block {
        stage_parts::cursor_of<Up> begin{};
        std::vector<ticket> tickets;
    };

public:
    struct state {
        typename Up::state up{};
        stage_parts::cursor_of<Up> at{};   ///< behind the newest block
        std::int64_t pass = 0;
        std::int64_t group = -1, place = 0;   ///< where the state stands; group -1: nowhere
        std::int64_t first = 0;               ///< number of blocks[0]
        std::vector<block> blocks;
        std::vector<ticket> given;   ///< the group
        std::vector<ticket> unused, unused_block;   ///< their memory is used again
        bool ended = false, all_at_once = false;
    };

    window_shuffled_stage(Up up, std::int64_t n, std::uint64_t seed)
        : up_(std::move(up)), cut_(n), seed_(seed), keys_(seed) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
        s.group = -1;
    }
    bool fits(const cursor& c) const {
        return stage_parts::fits(up_, c.up) && c.group >= 0 && c.group < std::int64_t{1} << 50 && c.place >= 0;
    }
    bool next(state& s, cursor& c, ticket& k) const {
        if (s.group != c.group || s.place != c.place) go_to(s, c);
        if (s.place >= static_cast<std::int64_t>(s.given.size())) {
            if (!next_group(s)) return false;
            c = {s.blocks.front().begin, s.group, 0};
        }
        k = std::move(s.given[static_cast<std::size_t>(s.place++)]);
        ++c.place;
        return true;
    }
    decltype(auto) get(state& s, ticket& k) const { return up_.get(s.up, k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("shuffle")("seed", seed_)("window", cut_.window);
    }

private:
    void go_to(state& s, const cursor& c) const {
        s.group = -1;
        s.at = c.up;
        s.first = cut_.oldest(c.group);
        s.blocks.clear();
        s.ended = s.all_at_once = false;
        if (c.group == 0) read_first(s);
        else read_up_to(s, c.group);
        if (!s.all_at_once) take_parts(s, c.group, s.given);
        s.group = c.group;
        s.place = c.place;
    }
    /// False, and nothing else, at the end of the pass.
    bool next_group(state& s) const {
        if (s.all_at_once) return false;
        const std::int64_t g = std::exchange(s.group, -1);   // should what is before throw
        read_up_to(s, g + 1);
        take_parts(s, g + 1, s.unused);
        s.group = g;
        if (s.unused.empty()) return false;
        if (s.first < cut_.oldest(g + 1)) {
            s.unused_block = std::move(s.blocks.front().tickets);
            s.blocks.erase(s.blocks.begin());
            ++s.first;
        }
        std::swap(s.given, s.unused);
        s.group = g + 1;
        s.place = 0;
        return true;
    }
    void read_block(state& s) const {
        block& b = s.blocks.emplace_back();
        b.begin = s.at;
        b.tickets = std::move(s.unused_block);
        b.tickets.clear();
        for (ticket k{}; static_cast<std::int64_t>(b.tickets.size()) < cut_.block();) {
            if (!stage_parts::next(up_, s.up, s.at, k)) {
                s.ended = true;
                break;
            }
            b.tickets.push_back(std::move(k));
        }
    }
    void read_up_to(state& s, std::int64_t newest) const {
        while (!s.ended && s.first + static_cast<std::int64_t>(s.blocks.size()) <= newest) {
            read_block(s);
            put_in_order(s, s.blocks.size() - 1);
        }
    }
    /// As many blocks as tell whether the pass has more than n elements. If not, all of them are the first group.
    void read_first(state& s) const {
        std::int64_t n = 0;
        while (!s.ended && n <= cut_.window) {
            read_block(s);
            n += static_cast<std::int64_t>(s.blocks.back().tickets.size());
        }
        s.all_at_once = n <= cut_.window;
        if (!s.all_at_once) {
            for (std::size_t b = 0; b < s.blocks.size(); ++b) put_in_order(s, b);
            return;
        }
        s.given.clear();
        for (block& b : s.blocks)
            for (ticket& k : b.tickets) s.given.push_back(std::move(k));
        stage_parts::put_in_random_order(s.given, keys_.groups, 0, s.pass);
    }
    void put_in_order(state& s, std::size_t b) const {
        stage_parts::put_in_random_order(s.blocks[b].tickets, keys_.blocks, s.first + static_cast<std::int64_t>(b),
                                         s.pass);
    }
    void take_parts(state& s, std::int64_t g, std::vector<ticket>& to) const {
        to.clear();
        for (std::size_t b = 0; b < s.blocks.size(); ++b) {
            const std::int64_t part = g - s.first - static_cast<std::int64_t>(b);
            if (part < 0 || part >= cut_.per_block) continue;
            std::vector<ticket>& from = s.blocks[b].tickets;
            const auto n = static_cast<std::int64_t>(from.size());
            for (std::int64_t i = part * cut_.part; i < (part + 1) * cut_.part && i < n; ++i)
                to.push_back(std::move(from[static_cast<std::size_t>(i)]));
        }
        stage_parts::put_in_random_order(to, keys_.groups, g, s.pass);
    }

    Up up_;
    stage_parts::shuffle_parts cut_;
    std::uint64_t seed_;
    stage_parts::shuffle_keys keys_;
};

/// Of an indexed stage: the same order, found for any place of it. A thread keeps the orders of the blocks that it
/// needs, 4 bytes for each of up to 2 n elements.
template <indexed_stage Up>
class indexed_window_shuffled_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    struct state {
        typename Up::state up{};
        std::int64_t pass = 0, first = 0;   ///< the group's first place
        std::vector<std::int64_t> order;    ///< the group
        struct block {
            std::int64_t number = -1;
            std::vector<std::uint32_t> order;
        };
        std::vector<block> blocks;
    };

    indexed_window_shuffled_stage(Up up, std::int64_t n, std::uint64_t seed)
        : up_(std::move(up)), cut_(n), seed_(seed), keys_(seed) {}
    std::int64_t size() const { return up_.size(); }
    void begin(state& s, std::int64_t pass) const {
        up_.begin(s.up, pass);
        s.pass = pass;
        s.order.clear();
        s.blocks.clear();
    }
    decltype(auto) get(state& s, std::int64_t i) const {
        if (!stands_at(s, i)) find_group(s, i);
        return up_.get(s.up, s.order[static_cast<std::size_t>(i - s.first)]);
    }
    /// Within the group alone: the next one would take the place of this one, which is not read yet.
    __attribute__((always_inline)) void prefetch(state& s, std::int64_t i) const {
        if (stands_at(s, i)) up_.prefetch(s.up, s.order[static_cast<std::size_t>(i - s.first)]);
    }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("shuffle")("seed", seed_)("window", cut_.window);
    }

private:
    static bool stands_at(const state& s, std::int64_t i) {
        return i >= s.first && i - s.first < static_cast<std::int64_t>(s.order.size());
    }
    std::int64_t all() const { return up_.size() == endless ? std::int64_t{1} << 60 : up_.size(); }
    void find_group(state& s, std::int64_t i) const {
        const std::int64_t n = all();
        s.order.clear();
        if (n <= cut_.window) {
            for (std::int64_t k = 0; k < n; ++k) s.order.push_back(k);
            stage_parts::put_in_random_order(s.order, keys_.groups, 0, s.pass);
            s.first = 0;
            return;
        }
        std::int64_t g = 0;   // the last one that begins at i or before it
        for (std::int64_t end = n / cut_.block() + cut_.per_block; end - g > 1;) {
            const std::int64_t middle = g + (end - g) / 2;
            (cut_.before(middle, n) <= i ? g : end) = middle;
        }
        s.first = cut_.before(g, n);
        for (std::int64_t b = cut_.oldest(g); b <= g && b * cut_.block() < n; ++b) {
            const std::vector<std::uint32_t>& from = order_of_block(s, b, n);
            for (std::size_t k = static_cast<std::size_t>((g - b) * cut_.part),
                             end = k + static_cast<std::size_t>(cut_.part); k < end && k < from.size(); ++k)
                s.order.push_back(b * cut_.block() + from[k]);
        }
        stage_parts::put_in_random_order(s.order, keys_.groups, g, s.pass);
    }
    const std::vector<std::uint32_t>& order_of_block(state& s, std::int64_t b, std::int64_t n) const {
        s.blocks.resize(static_cast<std::size_t>(cut_.per_block));
        auto& to = s.blocks[static_cast<std::size_t>(b % cut_.per_block)];
        if (to.number == b) return to.order;
        const std::int64_t left = n - b * cut_.block();
        to.order.resize(static_cast<std::size_t>(left < cut_.block() ? left : cut_.block()));
        for (std::uint32_t k = 0; k < to.order.size(); ++k) to.order[k] = k;
        stage_parts::put_in_random_order(to.order, keys_.blocks, b, s.pass);
        to.number = b;
        return to.order;
    }

    Up up_;
    stage_parts::shuffle_parts cut_;
    std::uint64_t seed_;
    stage_parts::shuffle_keys keys_;
};

/// A random order in which an element comes at most n - 1 places early, as from a buffer of n elements: another one
/// each pass, the same for equal (seed, pass). All orders of a pass of up to n elements are equally likely. Neighbours
/// lie 0.58 n places apart afterwards on average (0.5 n for n < 112); of tf.data's buffer of n elements that is n,
/// since there a few elements wait for very long.
///
/// Of a stream up to 2 n elements wait in memory, each as what the stage before hands on: after filter its value. Going
/// on in the middle of a pass reads at most 2 n inputs before the next element. Behind an indexed stage it is indexed;
/// a thread that asks for elements far apart orders up to 2 n numbers anew each time, so shuffle() comes before it.
template <element_stage Up>
auto operator|(Up up, shuffle_step s) {
    if constexpr (indexed_stage<Up>)
        return indexed_window_shuffled_stage<Up>(std::move(up), s.buffer, s.seed);
    else return window_shuffled_stage<Up>(std::move(up), s.buffer, s.seed);
}

} // namespace sinter::data
