// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <vector>

/// What several members have counted, as one metric: its state() lists the numbers, which are added
/// up over members.
namespace sinter::inline SINTER_ORDINARY::metrics::detail {

/// Sums over all members (strategy/strategy.hpp), without their type.
struct member_sums {
    void* session;
    void (*reduce)(void* session, span<double>);
    int index, count;
    void operator()(std::vector<double>& x) const { reduce(session, span<double>(x.data(), x.size())); }
};

/// Reads a metric's numbers, or gives it others. Integers are exact up to 2^53.
class number_list {
public:
    number_list() = default;
    explicit number_list(span<const double> from) : from_(from), reading_(true) {}
    template <class T>
    number_list& operator()(const char*, T& x) {
        if constexpr (requires { x.state(*this); }) x.state(*this);
        else if constexpr (requires { x.size(); }) for (auto& v : x) one(v);
        else one(x);
        return *this;
    }
    bool reading() const { return reading_; }
    std::vector<double> numbers;   ///< what was listed

private:
    span<const double> from_;
    std::size_t at_ = 0;
    bool reading_ = false;

    template <class T>
    void one(T& x) {
        if (reading_) x = static_cast<T>(from_[at_++]);
        else numbers.push_back(static_cast<double>(x));
    }
};

template <class M>
concept has_number_list = requires(M m, number_list& l) { m.state(l); };
/// Whether states are merged by adding up number by number: unless the metric says that they are
/// not, and has merge() for it.
template <class M>
constexpr bool adds_up() {
    if constexpr (requires { M::adds_up; }) return M::adds_up;
    else return true;
}
template <class M>
std::vector<double> numbers_of(M m) {
    number_list l;
    m.state(l);
    return std::move(l.numbers);
}
template <class M>
void set_numbers(M& m, span<const double> x) {
    number_list l(x);
    m.state(l);
}
/// `m` of one member becomes that of all.
template <has_number_list M>
SINTER_COLD void merge_members(M& m, const member_sums& all) {
    std::vector<double> x = numbers_of(m);
    if constexpr (adds_up<M>()) {
        all(x);
        set_numbers(m, span<const double>(x.data(), x.size()));
    } else {   // each in a place of its own, then one after the other
        const std::size_t n = x.size();
        std::vector<double> each(n * static_cast<std::size_t>(all.count));
        for (std::size_t i = 0; i < n; ++i) each[static_cast<std::size_t>(all.index) * n + i] = x[i];
        all(each);
        M other = m;
        for (std::size_t r = 0; r < static_cast<std::size_t>(all.count); ++r) {
            set_numbers(r ? other : m, span<const double>(each.data() + r * n, n));
            if (r) m.merge(other);
        }
    }
}

} // namespace sinter::metrics::detail
