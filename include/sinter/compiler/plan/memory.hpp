// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/array.hpp>
#include <sinter/graph/address.hpp>
#include <cstdint>

namespace sinter::inline SINTER_TARGET::compiler {

using facts::address;
using facts::gradient_source;
using facts::is_gradient_source;
using facts::number_of_source;
using facts::port_address;
using facts::port_of;
using facts::space;

/// First fit over a list of holes, sorted by place. Activations come and go through it while the
/// plan walks the groups.
class hole_list {
public:
    constexpr std::int64_t take(std::int64_t size) {
        int* p = &first_;
        for (; *p >= 0; p = &h_[*p].next) {
            hole& x = h_[*p];
            if (x.size < size) continue;
            const std::int64_t at = x.at;
            x.at += size;
            x.size -= size;
            if (!x.size) *p = x.next;
            return at;
        }
        p = &first_;   // none is large enough: grow at the top, from the last hole if it touches it
        while (*p >= 0 && h_[*p].next >= 0) p = &h_[*p].next;
        std::int64_t at = top_;
        if (*p >= 0 && h_[*p].at + h_[*p].size == top_) {
            at = h_[*p].at;
            *p = -1;
        }
        top_ = at + size;
        return at;
    }
    constexpr void give(std::int64_t at, std::int64_t size) {
        int before = -1, after = first_;
        while (after >= 0 && h_[after].at < at) before = after, after = h_[after].next;
        if (before >= 0 && h_[before].at + h_[before].size == at) {
            h_[before].size += size;
        } else {
            const int id = h_.push({at, size, after});
            (before < 0 ? first_ : h_[before].next) = id;
            before = id;
        }
        hole& b = h_[before];
        if (after >= 0 && b.at + b.size == h_[after].at) {
            b.size += h_[after].size;
            b.next = h_[after].next;
        }
    }
    constexpr std::int64_t top() const { return top_; }

private:
    struct hole {
        std::int64_t at, size;
        int next;
    };
    growing<hole> h_;
    int first_ = -1;
    std::int64_t top_ = 0;
};

} // namespace sinter::compiler
