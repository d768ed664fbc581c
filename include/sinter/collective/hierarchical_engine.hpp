// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <bit>
#include <sinter/collective/transport_engine.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Where one member is among the hosts of a job.
struct host_layout {
    int host = 0;           ///< its host's number, in the order of their first members
    int local = 0;          ///< how many members of lower rank its host has
    bool even = true;       ///< all hosts have the same number of members
    bool in_order = true;   ///< and these are a power of two, and of ranks that follow each other

    /// `hosts`: each member's, by rank.
    static host_layout of(const std::vector<std::string>& hosts, int rank) {
        host_layout l;
        std::vector<std::string> names;
        std::vector<int> members, of_rank;
        for (const std::string& h : hosts) {
            const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), h) - names.begin());
            if (at == names.size()) names.push_back(h), members.push_back(0);
            if (static_cast<int>(of_rank.size()) == rank) l.host = static_cast<int>(at), l.local = members[at];
            of_rank.push_back(static_cast<int>(at));
            ++members[at];
        }
        const int each = members.front();
        l.even = std::all_of(members.begin(), members.end(), [&](int n) { return n == each; });
        l.in_order = l.even && std::has_single_bit(static_cast<unsigned>(each)) &&
                     std::is_sorted(of_rank.begin(), of_rank.end());
        return l;
    }
    /// The color of those that add up the same part for their hosts; negative: others do it for this one.
    int counterparts() const { return even || local == 0 ? local : -1; }
};

/// Sums within hosts, then between them: see hierarchical. Everything else, and what is short, goes over the engine
/// that all members have.
class hierarchical_engine final : public engine {
public:
    /// Up to so many bytes rounds count, and not bytes.
    static constexpr std::int64_t small_bytes = 8 << 10;

    hierarchical_engine(const host_layout& l, std::unique_ptr<transport_engine> whole)
        : layout_(l), whole_(std::move(whole)) {}
    /// The members of this host, and this one's counterparts (null: none). Until then `whole` does everything.
    void use(std::unique_ptr<communicator> within, std::unique_ptr<communicator> between) {
        within_ = std::move(within);
        between_ = std::move(between);
    }

    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        const bool tree = o.what == kind::all_reduce_tree || o.what == kind::reduce_scatter_tree;
        const bool layered = within_ && reduces(o.what) && n * bytes_of(o.type) > small_bytes &&
                             (!tree || layout_.in_order);
        if (!layered) return whole_->perform(o, number, data, n);
        whole_->agree({o, number, nullptr, n});   // else members of one host might wait for others of another one
        if (layout_.even) reduce_by_parts(o, static_cast<std::byte*>(data), n, tree);
        else reduce_by_the_first(o, data, n);
    }

private:
    host_layout layout_;
    std::unique_ptr<transport_engine> whole_;
    std::unique_ptr<communicator> within_, between_;

    static void run(communicator& c, operation o, kind what, void* data, std::int64_t n) {
        o.what = what;
        c.wait(c.start(o, data, n, false));
    }
    void reduce_by_parts(const operation& o, std::byte* data, std::int64_t n, bool tree) {
        const auto [first, end] = within_->part(n, within_->rank());
        run(*within_, o, tree ? kind::reduce_scatter_tree : kind::reduce_scatter, data, n);
        run(*between_, o, tree ? kind::all_reduce_tree : kind::all_reduce, data + first * bytes_of(o.type),
            end - first);
        run(*within_, o, kind::all_gather, data, n);
    }
    void reduce_by_the_first(const operation& o, void* data, std::int64_t n) {
        run(*within_, o, kind::all_reduce, data, n);
        if (between_) run(*between_, o, kind::all_reduce, data, n);
        run(*within_, o, kind::broadcast, data, n);
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
