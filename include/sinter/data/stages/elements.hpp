// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/stage.hpp>
#include <optional>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

/// The elements of one pass, one after the other, for loops:
///
///     for (const sample& s : data::elements(stages)) ...
///
/// They are computed by the caller's thread. An element is good until the next one.
template <element_stage Stages>
class element_range {
public:
    element_range(Stages s, std::int64_t pass) : stages_(std::move(s)) { stages_.begin(state_, pass); }

    /// The next element; null at the end of the pass.
    const typename Stages::value_type* next() {
        stage_parts::ticket_of<Stages> k{};
        if (!stage_parts::next(stages_, state_, cursor_, k)) return nullptr;
        element_.emplace(stages_.get(state_, k));
        return &*element_;
    }
    struct end_of_pass {};
    class iterator {
    public:
        explicit iterator(element_range* r) : range_(r), at_(r->next()) {}
        const typename Stages::value_type& operator*() const { return *at_; }
        const typename Stages::value_type* operator->() const { return at_; }
        iterator& operator++() {
            at_ = range_->next();
            return *this;
        }
        bool operator==(end_of_pass) const { return at_ == nullptr; }

    private:
        element_range* range_;
        const typename Stages::value_type* at_;
    };
    iterator begin() { return iterator(this); }
    end_of_pass end() const { return {}; }

private:
    Stages stages_;
    typename Stages::state state_{};
    stage_parts::cursor_of<Stages> cursor_{};
    std::optional<typename Stages::value_type> element_;
};

template <element_stage Stages>
element_range<Stages> elements(Stages s, std::int64_t pass = 0) {
    return {std::move(s), pass};
}

} // namespace sinter::data
