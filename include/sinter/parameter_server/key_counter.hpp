// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/row_index.hpp>
#include <algorithm>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// How often keys without a row were seen. It remembers as many keys as there are new ones among
/// the last `most` to twice as many: what comes more seldom begins anew, so that memory has a
/// bound.
class key_counter {
public:
    /// 0: counts nothing. `most` is taken as 2^12 to 2^18.
    explicit key_counter(std::int64_t most)
        : most_(most ? std::clamp(most, std::int64_t{1} << 12, std::int64_t{1} << 18) : 0), now_(most_),
          before_(most_) {}

    /// Counts this key once more.
    int count(std::int64_t key) {
        if (most_ == 0) return 0;
        if (now_.keys.size() == most_ && now_.keys.find(key) < 0) {
            std::swap(now_, before_);
            now_.keys.clear();
        }
        const std::int32_t old = now_.keys.size(), i = now_.keys.place_of(key);
        int& n = now_.counts[static_cast<std::size_t>(i)];
        if (i == old) {   // new here
            const std::int32_t j = before_.keys.find(key);
            n = j < 0 ? 0 : before_.counts[static_cast<std::size_t>(j)];
        }
        return ++n;
    }
    /// It has a row now: should it lose that, it begins anew.
    void forget(std::int64_t key) {
        for (seen* s : {&now_, &before_}) {
            const std::int32_t i = most_ ? s->keys.find(key) : -1;
            if (i >= 0) s->counts[static_cast<std::size_t>(i)] = 0;
        }
    }
    void clear() { now_.keys.clear(), before_.keys.clear(); }

private:
    struct seen {
        explicit seen(std::int64_t most) : keys(most), counts(static_cast<std::size_t>(most)) {}
        row_index keys;
        std::vector<int> counts;
    };
    std::int64_t most_;
    seen now_, before_;
};

} // namespace sinter::parameter_servers
