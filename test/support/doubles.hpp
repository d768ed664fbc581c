// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

/// Plain arrays of doubles for references: extents (the batch is an axis like any other) and values, row-major.
namespace sinter::test {

struct doubles {
    std::vector<int> d;
    std::vector<double> v;

    doubles() = default;
    explicit doubles(std::vector<int> extents, double x = 0) : d(std::move(extents)), v(count(d), x) {}
    doubles(std::vector<int> extents, std::vector<double> values) : d(std::move(extents)), v(std::move(values)) {}

    static std::size_t count(const std::vector<int>& d) {
        std::size_t n = 1;
        for (int e : d) n *= static_cast<std::size_t>(e);
        return n;
    }
    int rank() const { return static_cast<int>(d.size()); }
    int size() const { return static_cast<int>(v.size()); }
    double& operator[](int i) { return v[static_cast<std::size_t>(i)]; }
    double operator[](int i) const { return v[static_cast<std::size_t>(i)]; }

    /// The element at these places, one an axis.
    double& at(const std::vector<int>& i) { return v[place(i)]; }
    double at(const std::vector<int>& i) const { return v[place(i)]; }
    std::size_t place(const std::vector<int>& i) const {
        std::size_t p = 0;
        for (std::size_t k = 0; k < d.size(); ++k)
            p = p * static_cast<std::size_t>(d[k]) + static_cast<std::size_t>(i[k]);
        return p;
    }
    /// Where flat element n lies.
    std::vector<int> where(int n) const {
        std::vector<int> i(d.size());
        for (std::size_t k = d.size(); k-- > 0; n /= d[k]) i[k] = n % d[k];
        return i;
    }
    /// The first n of the leading axis.
    doubles first(int n) const { return d.empty() ? *this : part(0, n); }
    /// The n of the leading axis from number `begin` on.
    doubles part(int begin, int n) const {
        std::vector<int> extents = d;
        const auto row = static_cast<std::ptrdiff_t>(v.size()) / d[0];
        extents[0] = n;
        return {extents, std::vector<double>(v.begin() + begin * row, v.begin() + (begin + n) * row)};
    }
};

/// f of one array's elements, or of two or three under NumPy's broadcasting, found by walking over
/// places from the last axis.
template <class F>
doubles map(const doubles& a, F f) {
    doubles y(a.d);
    for (int i = 0; i < y.size(); ++i) y[i] = f(a[i]);
    return y;
}
inline doubles stretch(const doubles& a, const std::vector<int>& d) {
    if (a.d == d) return a;
    const std::size_t more = d.size() - a.d.size();
    std::vector<int> step(d.size()), at(d.size());
    for (int k = a.rank(), size = 1; k-- > 0; size *= a.d[static_cast<std::size_t>(k)])
        if (a.d[static_cast<std::size_t>(k)] != 1) step[more + static_cast<std::size_t>(k)] = size;
    doubles y(d);
    for (int n = 0, from = 0; n < y.size(); ++n) {
        y[n] = a[from];
        for (std::size_t k = d.size(); k-- > 0;) {
            from += step[k];
            if (++at[k] < d[k]) break;
            from -= step[k] * std::exchange(at[k], 0);
        }
    }
    return y;
}
template <class F>
doubles map(const doubles& a, const doubles& b, F f) {
    if (a.d == b.d) {
        doubles y(a.d);
        for (int i = 0; i < y.size(); ++i) y[i] = f(a[i], b[i]);
        return y;
    }
    std::vector<int> d = a.rank() >= b.rank() ? a.d : b.d;
    for (std::size_t k = 1; k <= d.size(); ++k)
        for (const doubles* p : {&a, &b})
            if (k <= p->d.size() && p->d[p->d.size() - k] != 1) d[d.size() - k] = p->d[p->d.size() - k];
    const doubles x = stretch(a, d), z = stretch(b, d);
    doubles y(d);
    for (int i = 0; i < y.size(); ++i) y[i] = f(x[i], z[i]);
    return y;
}
template <class F>
doubles map(const doubles& a, const doubles& b, const doubles& c, F f) {
    const std::vector<int> d =
        map(map(a, b, [](double, double) { return 0.; }), c, [](double, double) { return 0.; }).d;
    const doubles x = stretch(a, d), y = stretch(b, d), z = stretch(c, d);
    doubles r(d);
    for (int i = 0; i < r.size(); ++i) r[i] = f(x[i], y[i], z[i]);
    return r;
}

/// Fixed pseudo-random floats in [low, high), as doubles.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : s_(seed * 0x9e3779b97f4a7c15u + 1) {}
    double operator()(double low, double high) {
        s_ = s_ * 6364136223846793005u + 1442695040888963407u;
        const double u = static_cast<double>(s_ >> 40) * 0x1p-24;
        return static_cast<float>(low + (high - low) * u);
    }
    int below(int n) { return static_cast<int>((*this)(0, 1) * n); }
    doubles fill(const std::vector<int>& d, double low, double high) {
        doubles a(d);
        for (double& x : a.v) x = (*this)(low, high);
        return a;
    }

private:
    std::uint64_t s_;
};

} // namespace sinter::test
