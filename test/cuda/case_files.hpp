// SPDX-License-Identifier: BSL-1.0
// Records of cases in a file, and how two of them are compared.
#pragma once
#include "cuda/cases.hpp"
#include <algorithm>
#include <bit>
#include <fstream>

namespace sinter::test {

/// A line "case array count" each, behind it the floats' bits as integers.
class record_writer {
public:
    explicit record_writer(const std::string& path) : out_(path) {
        if (!out_) throw io_error("cannot be written", path);
    }
    void write(const std::string& name, const record& r) {
        for (const record::array& a : r.arrays) {
            out_ << name << ' ' << a.name << ' ' << a.values.size() << '\n';
            for (const float v : a.values) out_ << std::bit_cast<std::uint32_t>(v) << ' ';
            out_ << '\n';
        }
    }

private:
    std::ofstream out_;
};

inline record read_record(const std::string& path, const std::string& name) {
    std::ifstream in(path);
    record r;
    std::string of, array;
    std::size_t n = 0;
    while (in >> of >> array >> n) {
        std::vector<float> values(n);
        for (float& v : values) {
            std::uint32_t bits = 0;
            in >> bits;
            v = std::bit_cast<float>(bits);
        }
        if (of == name) r.add(array, values);
    }
    if (r.arrays.empty()) throw io_error("holds no case " + name, path);
    return r;
}

/// What float32 sums in other orders leave of twenty steps.
inline constexpr double most_loss_difference = 1e-4, most_array_difference = 1e-4;

struct record_difference {
    double loss = 0;     ///< the largest of a loss, relative where that is above 1e-3
    double array = 0;    ///< the largest of |a - b| / |b| over arrays, in root mean squares; |b| counts as 1e-3 more
    std::string where;   ///< that array
};
/// Infinite where names or sizes differ or something is not finite.
inline record_difference difference(const record& got, const record& needed) {
    record_difference d;
    if (got.arrays.size() != needed.arrays.size()) return {INFINITY, INFINITY, "number of arrays"};
    for (std::size_t i = 0; i < got.arrays.size(); ++i) {
        const record::array &a = got.arrays[i], &b = needed.arrays[i];
        if (a.name != b.name || a.values.size() != b.values.size()) return {INFINITY, INFINITY, b.name};
        double apart = 0, all = 0;
        for (std::size_t k = 0; k < a.values.size(); ++k) {
            const double x = a.values[k], y = b.values[k];
            apart += (x - y) * (x - y);
            all += y * y;
            const double off = std::abs(x - y) / std::max(std::abs(y), 1e-3);
            if (i == 0 && !(off <= d.loss)) d.loss = std::isfinite(off) ? off : INFINITY;
        }
        const double off = std::sqrt(apart) / (std::sqrt(all) + 1e-3 * std::sqrt(static_cast<double>(a.values.size())));
        if (!(off <= d.array)) d.array = std::isfinite(off) ? off : INFINITY, d.where = b.name;
    }
    return d;
}

} // namespace sinter::test
