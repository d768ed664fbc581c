// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/kernel/cuda/element_walk.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/mul.hpp>

#include <vector>

// Threads of a walk over elements, which take some rows at once: each element once, and sums in the order of the rows.
using namespace sinter;
using namespace sinter::compiler;

namespace {

constexpr std::uint64_t word(opcode c, int a, int arg, row_map rows = row_map::same, bool columns = true, int b = 0) {
    instruction w;
    w.code = static_cast<std::uint16_t>(c);
    w.a = static_cast<std::uint8_t>(a);
    w.b = static_cast<std::uint8_t>(b);
    w.arg = static_cast<std::uint16_t>(arg);
    if (c == opcode::load)
        w.map = static_cast<std::uint8_t>(static_cast<int>(rows) | (columns ? int{instruction::along_columns} : 0));
    return w.pack();
}
constexpr std::uint64_t word(op_id c, int a, int b) {
    instruction w;
    w.code = static_cast<std::uint16_t>(c);
    w.a = static_cast<std::uint8_t>(a);
    w.b = static_cast<std::uint8_t>(b);
    return w.pack();
}

/// What the threads of `walk` leave: operand 0 is x, 1 is a bias by columns, 2 a factor by rows, 3 the result.
template <class Walk>
struct outcome {
    std::vector<float> y, sums;
    outcome(int rows, int columns, int parts, const std::vector<float>& x, const std::vector<float>& bias,
            const std::vector<float>& factor)
        : y(x), sums(static_cast<std::size_t>(parts * columns), -77.f) {   // the result is where x is, as in an update
        typename Walk::call c{};
        float* const p[] = {y.data(), const_cast<float*>(bias.data()), const_cast<float*>(factor.data()), y.data()};
        std::copy(p, p + Walk::B::operands, c.p);
        c.sums = sums.data();
        c.rows = rows;
        c.columns = columns;
        c.parts = parts;
        c.sum_count = Walk::B::sums;
        gpu::source_call s;
        s.a = x.data();
        for (std::int64_t i = Walk::threads(c) + 3; i-- > 0;) Walk::thread(i, s, c);
    }
};
/// y = (x + bias) * factor, and the sums of y over rows, by parts.
template <class Walk>
void check() {
    for (int rows : {1, 2, 3, 7, 8, 12, 13, 50})
        for (int columns : {1, 5})
            for (int parts : {1, 2, 3, 5}) {
                if (parts > rows) continue;
                std::vector<float> x, bias, factor;
                for (int i = 0; i < rows * columns; ++i) x.push_back(0.37f * static_cast<float>(i % 41) - 3.f);
                for (int j = 0; j < columns; ++j) bias.push_back(0.11f * static_cast<float>(j + 1));
                for (int i = 0; i < rows; ++i) factor.push_back(1.f + 0.01f * static_cast<float>(i));
                const outcome<Walk> got(rows, columns, parts, x, bias, factor);
                std::vector<float> y, sums(static_cast<std::size_t>(parts * columns), 0.f);
                for (int i = 0; i < rows; ++i)
                    for (int j = 0; j < columns; ++j) {
                        const auto at = static_cast<std::size_t>(i * columns + j);
                        const float biased = x[at] + bias[static_cast<std::size_t>(j)];
                        y.push_back(biased * factor[static_cast<std::size_t>(i)]);
                        sums[static_cast<std::size_t>(i % parts * columns + j)] += y.back();
                    }
                BOOST_TEST(got.y == y, rows << " rows, " << columns << " columns, " << parts << " parts");
                BOOST_TEST(got.sums == sums, rows << " rows, " << columns << " columns, " << parts << " parts");
            }
}

} // namespace

BOOST_AUTO_TEST_CASE(rows_that_a_library_left) {
    using walk =
        gpu::element_walk<gpu::from_memory, word(opcode::accumulator, 0, 0), word(opcode::load, 0, 1, row_map::none),
                          word(op::add.id, 0, 1), word(opcode::load, 0, 2, row_map::same, false),
                          word(op::mul.id, 2, 3), word(opcode::store, 4, 3), word(opcode::column_sum, 4, 0)>;
    static_assert(walk::loads == 2 && walk::at_once == 4);   // the bias is read once
    check<walk>();
}
BOOST_AUTO_TEST_CASE(rows_of_operands) {
    using walk = gpu::element_walk<gpu::from_memory, word(opcode::load, 0, 0), word(opcode::load, 0, 1, row_map::none),
                                   word(op::add.id, 0, 1), word(opcode::load, 0, 2, row_map::same, false),
                                   word(op::mul.id, 2, 3), word(opcode::store, 4, 3), word(opcode::column_sum, 4, 0)>;
    static_assert(walk::loads == 3 && walk::at_once == 2);
    check<walk>();
}
BOOST_AUTO_TEST_CASE(flat) {   // x + x, of elements in a row
    using walk = gpu::element_walk<gpu::from_nothing, word(opcode::load, 0, 0), word(op::add.id, 0, 0),
                                   word(opcode::store, 1, 3)>;
    static_assert(walk::at_once == 4);
    for (int n : {1, 4, 5, 9, 31}) {
        std::vector<float> x;
        for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i) - 2.5f);
        const outcome<walk> got(n, 1, std::min(n, 3), x, {}, {});
        for (float& v : x) v += v;
        BOOST_TEST(got.y == x);
    }
}
