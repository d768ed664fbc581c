// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>
#include <sinter/ops/permute.hpp>
#include <sinter/ops/slice.hpp>
#include <cstring>

/// Copies between a tensor in its own order and even steps in another: e as set_steps leaves it.
namespace sinter::cpu {

/// Walks over rows of the last of five axes; `at` is where the row begins in the tensor of steps.
class row_steps {
public:
    /// The place of row r, counted over examples that lie e[strided::example] apart.
    row_steps(const std::int64_t* e, std::int64_t r) : d_(e), step_(e + max_rank), example_(e[strided::example]) {
        static_assert(max_rank == 5);
        for (int i = 3; i >= 0; --i) {
            place_[i] = r % d_[i];
            at += place_[i] * step_[i];
            r /= d_[i];
        }
        at += r * example_ + e[strided::offset];
    }
    void next() {
        for (int i = 3; i >= 0; --i) {
            at += step_[i];
            if (++place_[i] < d_[i]) return;
            place_[i] = 0;
            at -= d_[i] * step_[i];
        }
        at += example_;
    }
    static std::int64_t rows(const std::int64_t* e) { return e[0] * e[1] * e[2] * e[3]; }

    std::int64_t at = 0;

private:
    const std::int64_t *d_, *step_;
    std::int64_t example_, place_[4];
};

/// p[0] by steps to p[1] in order; Insert: p[0] in order to steps in p[1], e[strided::fill] (its bits) elsewhere.
template <bool Insert>
struct strided_copy {
    static constexpr int phases = Insert ? 2 : 1;

    static void run(const call& c) {
        if constexpr (!Insert) {
            copy(c);
        } else {
            const std::int64_t all = c.m * c.e[strided::example], first = share(all, c.part, c.parts);
            const std::int64_t n = share(all, c.part + 1, c.parts) - first;
            const auto bits = static_cast<std::int32_t>(c.e[strided::fill]);
            float fill;
            std::memcpy(&fill, &bits, 4);
            for (std::int64_t i = 0; i < n; ++i) c.p[1][first + i] = fill;
        }
    }
    static void finish(const call& c) {
        if constexpr (Insert) copy(c);
    }

private:
    static void copy(const call& c) {
        const std::int64_t rows = row_steps::rows(c.e) * c.m, n = c.e[4], step = c.e[9];
        const std::int64_t first = share(rows, c.part, c.parts), end = share(rows, c.part + 1, c.parts);
        row_steps place(c.e, first);
        for (std::int64_t r = first; r < end; ++r, place.next()) {
            const float* from = Insert ? c.p[0] + r * n : c.p[0] + place.at;
            float* to = Insert ? c.p[1] + place.at : c.p[1] + r * n;
            if (step == 1) {
                std::memcpy(to, from, 4 * static_cast<std::size_t>(n));
            } else {
                for (std::int64_t j = 0; j < n; ++j) to[Insert ? j * step : j] = from[Insert ? j : j * step];
            }
        }
    }
};

template <class Body, int... X>
struct nest<op::permute, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::expand, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::slice, Body, X...> { using type = strided_copy<false>; };
template <class Body, int... X>
struct nest<op::insert, Body, X...> { using type = strided_copy<true>; };

} // namespace sinter::cpu
