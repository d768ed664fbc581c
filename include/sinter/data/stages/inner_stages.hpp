// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::data::stage_parts {

/// An element of a pipeline that is made of another one's elements: which of these it is of, and its ticket there.
template <class Inner>
struct inner_ticket {
    std::shared_ptr<const Inner> stages;
    ticket_of<Inner> of{};
};

/// One such pipeline that is read, and of which element it was made; -1: there is none.
template <class Inner>
struct inner_reading {
    std::int64_t number = -1;
    std::shared_ptr<const Inner> stages;
    typename Inner::state state{};
};

/// What a thread holds of such pipelines to compute their elements: a state for each of the last few.
template <class Inner>
class inner_states {
public:
    void clear() {
        all_.clear();
        oldest_ = 0;
    }
    /// The value of an element of pass `pass`; up to `most` states are kept.
    typename Inner::value_type get(inner_ticket<Inner>& k, std::int64_t pass, std::size_t most) {
        for (one& r : all_)
            if (r.stages == k.stages) return r.stages->get(r.state, k.of);
        one fresh{.stages = k.stages};
        fresh.stages->begin(fresh.state, pass);
        if (all_.size() < most) {
            all_.push_back(std::move(fresh));
            return k.stages->get(all_.back().state, k.of);
        }
        oldest_ = (oldest_ + 1) % all_.size();
        all_[oldest_] = std::move(fresh);
        return k.stages->get(all_[oldest_].state, k.of);
    }

private:
    struct one {
        std::shared_ptr<const Inner> stages;
        typename Inner::state state{};
    };
    std::vector<one> all_;
    std::size_t oldest_ = 0;   ///< makes room
};

} // namespace sinter::data::stage_parts
