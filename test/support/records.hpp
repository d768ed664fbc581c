// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "fixtures/record.hpp"
#include "support/check_op.hpp"

/// Many ops in one program, against what other frameworks gave for them. The loss is the sum over
/// all ops of the value times a parameter of ones: the gradients of these parameters are the ops'
/// values, those of the operands their gradients. Not fused: each op in a kernel of its own takes
/// the compiler less time than all in one.
namespace sinter::test {
using namespace compiler;

struct recorded_op {
    const fixture::record* from;
    tensor (*apply)(tensor a, tensor b, tensor c);
    /// tolerances, relative; the gradient's is absolute below 1
    double value = 2e-6, from_size = 1e-30, gradient = 1e-5;
};
constexpr shape extents_of(const fixture::record::array& a) {
    shape s{.rank = a.rank};
    for (int i = 0; i < a.rank; ++i) s.d[i] = a.extents[i];
    return s;
}

template <const auto& Ops>
struct recorded_net {
    static constexpr bundle trace(graph& g) {
        tensor all = constant(&g, 0.f);
        for (const recorded_op& f : Ops) {
            tensor x[fixture::record::most];
            const auto operand = [&](int i) {
                return parameter(all, f.from->x[i].name, extents_of(f.from->x[i]), ones);
            };
            for (int i = 0; i <= f.from->operands; ++i) x[i] = operand(i);
            const tensor y = f.apply(x[0], x[1], x[2]), weight = x[f.from->operands];
            if (!(y.shape().plain() == weight.shape()))
                return fail(&g, fault_kind::sizes_differ, op::input, y.shape(), weight.shape());
            all = all + sinter::detail::sum_of_all(ops::plain(y) * weight);
        }
        return ops::reshape(all, extents(1));
    }
};

/// Where an op differs on purpose, as its page says: what it gives there.
struct intended {
    const char* array;
    int element;
    double value;
};

inline void check_record(const std::string& what, const std::vector<float>& got, const double* want, double relative,
                         double from, view<const intended> differences) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double x = static_cast<double>(got[i]);
        double y = want ? want[i] : 0;
        for (const intended& own : differences)
            if (own.array == what && own.element == static_cast<int>(i)) y = own.value;
        const bool same = std::isfinite(y) ? std::abs(x - y) <= relative * std::max(std::abs(y), from)
                                           : x == y || (std::isnan(x) && std::isnan(y));
        BOOST_TEST(same, what << ": element " << i << " is " << x << ", not " << y);
    }
}
inline void check_records(program_run& p, view<const recorded_op> ops, view<const intended> differences) {
    std::size_t at = 0;
    for (const recorded_op& f : ops)
        for (int i = 0; i <= f.from->operands; ++i, ++at) {
            const auto& a = f.from->x[i];
            const int n = extents_of(a).size();
            if (i < f.from->operands)
                p.set(p.parameters.at(at), doubles({n}, std::vector<double>(a.values, a.values + n)));
        }
    p.run(1, {doubles({1}, 1.)});
    at = 0;
    for (const recorded_op& f : ops)
        for (int i = 0; i <= f.from->operands; ++i, ++at) {
            const auto& a = f.from->x[i];
            const bool operand = i < f.from->operands;
            const std::vector<float> got = p.gradient(static_cast<int>(at));
            if (operand) check_record(a.name, got, a.gradient, f.gradient, 1, differences);
            else check_record(a.name, got, a.values, f.value, f.from_size, differences);
        }
}
template <const auto& Ops>
void check_records(view<const intended> differences = {}) {
    const auto p = make_run<recorded_net<Ops>, weighted_sum, as_unfused, 1>();
    check_records(*p, {Ops, static_cast<int>(std::size(Ops))}, differences);
}

} // namespace sinter::test
