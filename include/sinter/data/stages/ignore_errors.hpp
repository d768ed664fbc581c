// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/stages/stage.hpp>
#include <concepts>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::data {

/// What ignore_errors() left out, to be looked at while a pipeline is read or afterwards. Copies share it. It counts
/// what was read: elements that were read twice count twice.
class ignored_errors {
public:
    std::int64_t count() const {
        base::mutex_lock hold(all_->guard);
        return all_->count;
    }
    std::string first() const {   ///< what() of the first error; empty: there was none
        base::mutex_lock hold(all_->guard);
        return all_->first;
    }
    void add(const error& e) const {
        base::mutex_lock hold(all_->guard);
        if (all_->count++ == 0) all_->first = e.what();
    }

private:
    struct errors {
        base::mutex guard;
        std::int64_t count SINTER_GUARDED_BY(guard) = 0;
        std::string first SINTER_GUARDED_BY(guard);
    };
    std::shared_ptr<errors> all_ = std::make_shared<errors>();
};

struct ignore_errors_step {
    std::int64_t most;
    ignored_errors errors;
};
/// Leaves out elements in whose computation a data_error or a format_error is thrown: up to `most` of them in a pass.
/// One more is a data_error that shows the first one of all. Other errors pass through, and so does one behind which
/// the stage before does not get: a file that is damaged may have no next record. So a pass always ends.
///
/// It belongs right behind the stage that throws. Stages that keep several elements, as shuffle(n) and pack() do,
/// cannot go on behind one that failed before them. Each process of a job computes all elements. Going on in the middle
/// of a pass costs what it costs the stage before. option_error for most < 0.
inline ignore_errors_step ignore_errors(std::int64_t most, ignored_errors list = {}) {
    if (most < 0) throw option_error("impossible number of errors", "ignore_errors", to_text({most}), "0 or more");
    return {most, std::move(list)};
}

template <element_stage Up>
class tolerant_stage {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = Up::maps;
    using value_type = typename Up::value_type;
    using state = typename Up::state;
    using ticket = std::optional<value_type>;
    struct cursor {
        stage_parts::cursor_of<Up> up{};
        std::int64_t errors = 0;   ///< of this pass
    };

    tolerant_stage(Up up, std::int64_t most, ignored_errors errors)
        : up_(std::move(up)), most_(most), errors_(std::move(errors)) {}
    std::int64_t size() const { return up_.size() == endless ? endless : unknown_size; }
    void begin(state& s, std::int64_t pass) const { up_.begin(s, pass); }
    bool fits(const cursor& c) const { return stage_parts::fits(up_, c.up) && c.errors >= 0; }
    bool next(state& s, cursor& c, ticket& k) const {
        std::optional<stage_parts::cursor_of<Up>> failed;   // where next() stood after it threw
        const auto leave_out = [&](const error& e, bool computing) {
            if (!computing && failed && same(*failed, c.up)) throw;
            if (!computing) failed.emplace(c.up);
            errors_.add(e);
            if (++c.errors > most_) refuse();
        };
        for (;;) {
            bool computing = false;
            try {
                stage_parts::ticket_of<Up> from{};
                if (!stage_parts::next(up_, s, c.up, from)) return false;
                computing = true;
                k.emplace(up_.get(s, from));
                return true;
            } catch (const data_error& e) {
                leave_out(e, computing);
            } catch (const format_error& e) {
                leave_out(e, computing);
            }
        }
    }
    value_type get(state&, ticket& k) const { return std::move(*k); }
    SINTER_COLD void describe(description& d) const {
        up_.describe(d);
        d.stage("ignore_errors")("most", most_);
    }

private:
    /// False also where it cannot be told; then `most` ends it.
    static bool same(const stage_parts::cursor_of<Up>& a, const stage_parts::cursor_of<Up>& b) {
        using type = stage_parts::cursor_of<Up>;
        if constexpr (std::has_unique_object_representations_v<type>) return std::memcmp(&a, &b, sizeof a) == 0;
        else if constexpr (std::equality_comparable<type>) return a == b;
        else return false;
    }
    SINTER_COLD void refuse() const {
        throw data_error("more elements with errors than are ignored", "ignore_errors",
                         to_text({most_ + 1, "; the first of all: ", errors_.first()}), to_text({"at most ", most_}));
    }

    Up up_;
    std::int64_t most_;
    ignored_errors errors_;
};

template <element_stage Up>
tolerant_stage<Up> operator|(Up up, ignore_errors_step s) {
    return {std::move(up), s.most, std::move(s.errors)};
}

} // namespace sinter::data
