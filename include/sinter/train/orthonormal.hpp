// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// Vectors of doubles, to be made orthonormal: each loses its parts along those before it (Gram and
/// Schmidt), once more where little of it was left (Kahan's rule: twice is enough; Giraud et al.
/// 2005).
///
/// Thousands of vectors of thousands of numbers are more than a cache holds. So vectors go in
/// batches: each group of those that are done is read once for a whole batch, piece by piece, and a
/// piece of a group stays in the first-level cache meanwhile. A matrix of 3000 x 3000 takes seconds
/// and not a minute.
class orthonormal_vectors {
public:
    orthonormal_vectors(std::size_t vectors, std::size_t floats)
        : count(vectors), length(floats), stride((length + width - 1) / width * width), all(count * stride) {}

    /// What comes before orthonormalize() should be linearly independent.
    double& at(std::size_t vector, std::size_t i) { return all[vector * stride + i]; }

    void orthonormalize() {
        for (std::size_t first = 0; first < count; first += batch) {
            const std::size_t end = std::min(first + batch, count);
            double before[batch];
            for (std::size_t k = first; k < end; ++k) before[k - first] = product(k, k);
            project(first, first, end - first);
            for (std::size_t k = first; k < end; ++k) {
                project_one_by_one(first, k);
                if (product(k, k) < 1e-8 * before[k - first]) {
                    project(first, k, 1);
                    project_one_by_one(first, k);
                }
                const double norm = __builtin_sqrt(product(k, k));
                for (std::size_t i = 0; i < length; ++i) at(k, i) /= norm;
            }
        }
    }

private:
    static constexpr std::size_t width = 4, group = 8, batch = 16, piece = 256;
    static_assert(batch % group == 0 && piece % width == 0);
    typedef double numbers __attribute__((vector_size(8 * width)));
    typedef double numbers_anywhere __attribute__((vector_size(8 * width), aligned(8), may_alias));

    std::size_t count, length, stride;
    std::vector<double> all;   ///< one vector behind the other, zeros to the next multiple of `width`

    // Through a pointer: of a reference that a function returns, clang 14 forgets that it is less
    // aligned.
    numbers_anywhere* place(std::size_t vector, std::size_t i) {
        return reinterpret_cast<numbers_anywhere*>(&at(vector, i));
    }
    static double sum(const numbers& x) { return (x[0] + x[1]) + (x[2] + x[3]); }

    double product(std::size_t a, std::size_t b) {
        numbers sums{};
        for (std::size_t i = 0; i < stride; i += width) sums += *place(a, i) * *place(b, i);
        return sum(sums);
    }

    /// `n` vectors from `first` on lose their parts along all before `end`, which are whole groups.
    void project(std::size_t end, std::size_t first, std::size_t n) {
        for (std::size_t u = 0; u < end; u += group) project_group(std::make_index_sequence<group>{}, u, first, n);
    }
    void project_one_by_one(std::size_t u, std::size_t vector) {
        for (; u < vector; ++u) project_group(std::index_sequence<0>{}, u, vector, 1);
    }
    template <std::size_t... J>
    void project_group(std::index_sequence<J...>, std::size_t u, std::size_t first, std::size_t n) {
        numbers along[batch][sizeof...(J)];
        for (std::size_t k = 0; k < n; ++k) ((along[k][J] = numbers{}), ...);
        for (std::size_t from = 0; from < stride; from += piece)
            for (std::size_t k = 0; k < n; ++k) {
                numbers sums[] = {along[k][J]...};
                for (std::size_t i = from; i < std::min(from + piece, stride); i += width) {
                    const numbers x = *place(first + k, i);
                    ((sums[J] += x * *place(u + J, i)), ...);
                }
                ((along[k][J] = sums[J]), ...);
            }
        for (std::size_t k = 0; k < n; ++k) ((along[k][J] = numbers{} + sum(along[k][J])), ...);
        for (std::size_t from = 0; from < stride; from += piece)
            for (std::size_t k = 0; k < n; ++k) {
                const numbers part[] = {along[k][J]...};
                for (std::size_t i = from; i < std::min(from + piece, stride); i += width) {
                    numbers x = *place(first + k, i);
                    ((x -= part[J] * *place(u + J, i)), ...);
                    *place(first + k, i) = x;
                }
            }
    }
};

} // namespace sinter::detail
