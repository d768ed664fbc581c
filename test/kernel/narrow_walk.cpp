// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE kernel_narrow_walk
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

#include <sinter/base/philox.hpp>
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/rowwise/walk.hpp>
#include <sinter/ops/add.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/mul.hpp>

using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::runtime;

namespace {

constexpr std::uint64_t code(instruction w) { return w.pack(); }
constexpr std::uint16_t of(opcode i) { return static_cast<std::uint16_t>(i); }
constexpr std::uint16_t of(op_id k) { return static_cast<std::uint16_t>(k); }
constexpr std::uint8_t map_of(row_map m, int more = 0) { return static_cast<std::uint8_t>(static_cast<int>(m) | more); }

/// A bit of all: every way to read, both reductions, a value kept for a later pass, sums of columns
/// and of rows, results of elements and of rows, one of which is read again, and random numbers of
/// both.
using mixed = cpu::body<
    code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 0}),
    code({.code = of(opcode::load), .map = map_of(row_map::same), .arg = 1, .row = 1}),
    code({.code = of(opcode::load), .map = map_of(row_map::none, instruction::along_columns), .arg = 2}),
    code({.code = of(opcode::load), .b = 0, .map = map_of(row_map::modulo, instruction::along_columns), .arg = 3}),
    code({.code = of(opcode::load), .b = 1, .map = map_of(row_map::divided, instruction::integers), .arg = 4,
          .row = 1}),
    code({.code = of(op::column_index)}),
    code({.code = of(op::random_uniform), .arg = 3}),
    code({.code = of(op::add), .a = 0, .b = 1}),
    code({.code = of(op::mul), .a = 7, .b = 2}),
    code({.code = of(op::add), .a = 8, .b = 3}),
    code({.code = of(op::add), .a = 9, .b = 4}),
    code({.code = of(op::add), .a = 10, .b = 5}),
    code({.code = of(opcode::row_max), .a = 11}),
    code({.code = of(opcode::row_sum), .a = 11}),
    code({.code = of(opcode::spill), .a = 11, .b = 0}),
    code({.code = of(opcode::reload), .b = 0, .phase = 1}),
    code({.code = of(op::mul), .a = 15, .b = 12, .phase = 1}),
    code({.code = of(op::add), .a = 16, .b = 13, .phase = 1}),
    code({.code = of(opcode::column_sum), .a = 17, .b = 0, .arg = 5, .phase = 1}),
    code({.code = of(opcode::store), .a = 17, .arg = 6, .phase = 1}),
    code({.code = of(opcode::store), .a = 12, .arg = 7, .phase = 1, .row = 1}),
    code({.code = of(opcode::store), .a = 6, .arg = 8}),
    code({.code = of(opcode::column_sum), .a = 13, .b = 1, .arg = 9, .phase = 1, .row = 1}),
    code({.code = of(op::random_uniform), .arg = 4, .row = 1}),
    code({.code = of(opcode::store), .a = 23, .arg = 10, .row = 1}),
    code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 8, .phase = 1}),
    code({.code = of(op::mul), .a = 25, .b = 12, .phase = 1}),
    code({.code = of(opcode::store), .a = 26, .arg = 11, .phase = 1})>;

struct results {
    std::vector<float> column_sums, elements, rows, random, all, random_rows, again;
    bool operator==(const results&) const = default;
};

/// A walk over rows that are transposed into scratch space, whatever row_walk would choose.
struct turned {
    using walk = cpu::transposed_walk<mixed>;
    static std::int64_t scratch(int columns, int parts) { return walk::scratch(columns, parts); }
    static void run(const call& c) { walk::rows(share(c.m, c.part, c.parts), share(c.m, c.part + 1, c.parts), c); }
};
/// Floats of scratch space before the body's own.
template <class Walk>
std::int64_t scratch_of([[maybe_unused]] const std::int64_t* e, [[maybe_unused]] int parts) {
    if constexpr (requires { Walk::scratch(e, parts, 1); }) return Walk::scratch(e, parts, 1);
    else if constexpr (requires { Walk::scratch(1, parts); })
        return Walk::scratch(static_cast<int>(e[extent::columns]), parts);
    else return 0;
}

/// Integers, so that the order of additions does not show. `each`: rows that share one of them.
template <class Walk>
results run(int rows, int columns, int parts, int each = 3) {
    const int repeated = 5;
    const auto numbers = [](int n, int factor) {
        std::vector<float> v(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = static_cast<float>(i * factor % 23 - 11);
        return v;
    };
    const auto room = [](int n) { return std::vector<float>(static_cast<std::size_t>(n), -1.f); };
    std::vector<float> x = numbers(rows * columns, 7), of_row = numbers(rows, 5), of_column = numbers(columns, 3),
                       table = numbers(repeated * columns, 11);
    std::vector<std::int32_t> whole;
    for (int i = 0; i * each < rows; ++i) whole.push_back(i * 13 % 19 - 9);
    results r{room(columns), room(rows * columns), room(rows), room(rows * columns), room(1), room(rows),
              room(rows * columns)};
    float* p[] = {x.data(), of_row.data(), of_column.data(), table.data(), reinterpret_cast<float*>(whole.data()),
                  r.column_sums.data(), r.elements.data(), r.rows.data(), r.random.data(), r.all.data(),
                  r.random_rows.data(), r.again.data()};
    std::int64_t e[extent::count] = {};
    e[extent::columns] = columns;
    e[extent::buffer_stride] = round_up(columns, 16);
    e[extent::first_q] = repeated;
    e[extent::first_q + 1] = each;
    const std::int64_t own = scratch_of<Walk>(e, parts);
    std::vector<float> scratch(static_cast<std::size_t>(own + mixed::scratch(e, parts)) + 16, -3.f);
    call c;
    c.scratch = scratch.data();
    c.p = p;
    c.e = e;
    c.sums = scratch.data() + own;
    c.seed = 17;
    c.step = 4;
    c.m = rows;
    c.parts = parts;
    for (c.part = 0; c.part < parts; ++c.part) mixed::begin(c);
    for (c.part = 0; c.part < parts; ++c.part) Walk::run(c);
    for (c.part = 0; c.part < parts; ++c.part) mixed::finish(c);
    return r;
}

template <int Columns>
void check() {
    for (int rows = 1; rows <= 70; ++rows)
        for (int parts = 1; parts <= 3; ++parts)
            for (const int each : {3, 40}) {
                const results want = run<cpu::row_walk<mixed>>(rows, Columns, parts, each);
                if (run<cpu::narrow_walk<mixed, Columns>>(rows, Columns, parts, each) != want)
                    BOOST_FAIL(rows << " rows of " << Columns << " in " << parts << " parts, " << each << " alike");
                if (run<turned>(rows, Columns, parts, each) != want)
                    BOOST_FAIL(rows << " transposed rows of " << Columns << " in " << parts << " parts, " << each
                               << " alike");
            }
}

} // namespace

BOOST_AUTO_TEST_CASE(lanes_along_rows_do_what_lanes_along_columns_do) {
    check<1>();
    check<2>();
    check<3>();
}

template <int Columns, int... J>
void check_interleaved(std::integer_sequence<int, J...>) {
    alignas(64) float rows[Columns * cpu::lanes], back[Columns * cpu::lanes] = {};
    for (int i = 0; i < Columns * cpu::lanes; ++i) rows[i] = static_cast<float>(i);
    const cpu::vf column[] = {cpu::load_column<Columns, J>(rows)...};
    for (int j = 0; j < Columns; ++j)
        for (int l = 0; l < cpu::lanes; ++l) {
            const float got = column[j][l];
            BOOST_TEST(got == static_cast<float>(l * Columns + j));
        }
    cpu::store_columns<Columns>(back, column);
    BOOST_TEST(back == rows, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(rows_of_two_and_three_go_to_columns_and_back) {
    check_interleaved<2>(std::make_integer_sequence<int, 2>{});
    check_interleaved<3>(std::make_integer_sequence<int, 3>{});
}

/// A store that a later word of its phase reads is there at once.
BOOST_AUTO_TEST_CASE(what_is_stored_and_read_in_one_phase) {
    using both =
        cpu::body<code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 0}),
                  code({.code = of(op::add), .a = 0, .b = 0}), code({.code = of(opcode::store), .a = 1, .arg = 1}),
                  code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 1}),
                  code({.code = of(op::add), .a = 3, .b = 0}), code({.code = of(opcode::store), .a = 4, .arg = 2})>;
    constexpr int rows = 50, columns = 3;
    std::vector<float> x(rows * columns), y(x.size(), -1.f), z(x.size(), -1.f), twice, thrice;
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i), twice.push_back(2 * x[i]), thrice.push_back(3 * x[i]);
    float* p[] = {x.data(), y.data(), z.data()};
    std::int64_t e[extent::count] = {};
    e[extent::columns] = columns;
    call c;
    c.p = p;
    c.e = e;
    c.m = rows;
    c.parts = 1;
    cpu::narrow_walk<both, columns>::run(c);
    BOOST_TEST(y == twice, boost::test_tools::per_element());
    BOOST_TEST(z == thrice, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(transposed_rows_do_what_rows_do) {
    for (int columns : {1, 2, 3, 4, 5, cpu::lanes - 1, cpu::lanes, cpu::lanes + 1, 2 * cpu::lanes, 2 * cpu::lanes + 3,
                        6 * cpu::lanes})
        for (int rows = 1; rows <= 70; rows += columns > 5 ? 3 : 1)
            for (int parts = 1; parts <= 3; ++parts)
                if (run<turned>(rows, columns, parts) != run<cpu::row_walk<mixed>>(rows, columns, parts))
                    BOOST_FAIL(rows << " rows of " << columns << " in " << parts << " parts");
}

BOOST_AUTO_TEST_CASE(walks_have_the_loops_that_their_columns_come_to) {
    using all = cpu::row_walk<mixed>;
    const auto cases = [](std::int64_t columns, std::int64_t rows = 1) {
        std::int64_t e[extent::count] = {};
        e[extent::columns] = columns;
        return all::cases(e, rows);
    };
    BOOST_TEST(cases(cpu::lanes - 1) == all::rest);
    BOOST_TEST(cases(2 * cpu::lanes) == all::whole);
    BOOST_TEST(cases(2 * cpu::lanes + 1) == (all::whole | all::rest));
    BOOST_TEST(cases(cpu::lanes - 1, cpu::lanes) == all::transposed);
    BOOST_TEST(cases(6 * cpu::lanes, 1000) == all::transposed);
    BOOST_TEST(cases(6 * cpu::lanes + 1, 1000) == (all::whole | all::rest));
    for (int rows : {1, 17})
        for (int parts : {1, 3}) {
            for (int columns : {cpu::lanes, 3 * cpu::lanes})
                BOOST_CHECK(run<all::only<all::whole>>(rows, columns, parts) == run<all>(rows, columns, parts));
            for (int columns = 1; columns < cpu::lanes; ++columns) {
                BOOST_CHECK(run<all::only<all::rest>>(rows, columns, parts) == run<all>(rows, columns, parts));
                BOOST_CHECK(run<all::only<all::transposed>>(rows, columns, parts) == run<all>(rows, columns, parts));
            }
            for (int columns : {3, 2 * cpu::lanes + 1})   // launches of one kernel, long rows and short ones
                BOOST_CHECK(run<all::only<all::whole | all::rest | all::transposed>>(rows, columns, parts) ==
                            run<all>(rows, columns, parts));
        }
}

BOOST_AUTO_TEST_CASE(one_row_by_hand) {   // so that not both walks are wrong alike
    const results r = run<cpu::narrow_walk<mixed, 2>>(1, 2, 1);
    // x = -11, -4; of the row -11; of the columns -11, -8; the table's -11, 0; the row's integer
    // -9; the columns' own 0, 1
    const float a = (-11.f - 11.f) * -11.f - 11.f - 9.f, b = (-4.f - 11.f) * -8.f - 9.f + 1.f, most = a > b ? a : b;
    BOOST_TEST(r.rows[0] == most);
    BOOST_TEST(r.all[0] == a + b);
    BOOST_TEST(r.elements[0] == a * most + (a + b));
    BOOST_TEST(r.elements[1] == b * most + (a + b));
    BOOST_TEST(r.column_sums[1] == r.elements[1]);
}

BOOST_AUTO_TEST_CASE(sums_of_few_columns) {   // kept in registers from row to row up to two vectors of them
    using sums =
        cpu::body<code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 0}),
                  code({.code = of(opcode::load), .map = map_of(row_map::none, instruction::along_columns), .arg = 1}),
                  code({.code = of(op::add), .a = 0, .b = 1}),
                  code({.code = of(opcode::load), .map = map_of(row_map::same), .arg = 4, .row = 1}),
                  code({.code = of(op::add), .a = 3, .b = 3, .row = 1}),
                  code({.code = of(op::add), .a = 2, .b = 4}),
                  code({.code = of(opcode::store), .a = 5, .arg = 2}),
                  code({.code = of(opcode::column_sum), .a = 5, .b = 0, .arg = 3})>;
    static_assert(sums::columns_apart);
    static_assert(!mixed::columns_apart);
    for (int columns : {1, 4, 7, 8, 12, 16, 24, 31, 32, 33, 48})
        for (int rows : {1, 5, 1500})
            for (int parts = 1; parts <= 3; ++parts) {
                const auto n = static_cast<std::size_t>(columns), all = n * static_cast<std::size_t>(rows);
                std::vector<float> x(all), of_column(n), of_row(static_cast<std::size_t>(rows)), y(all, -1.f),
                    sum(n, -1.f), want_y(all), want(n);
                for (std::size_t i = 0; i < all; ++i) x[i] = static_cast<float>(i * 7 % 23) - 11.f;
                for (std::size_t j = 0; j < n; ++j) of_column[j] = static_cast<float>(j);
                for (std::size_t i = 0; i < of_row.size(); ++i) of_row[i] = static_cast<float>(i % 9);
                for (std::size_t i = 0; i < all; ++i)
                    want[i % n] += want_y[i] = x[i] + of_column[i % n] + 2 * of_row[i / n];
                float* p[] = {x.data(), of_column.data(), y.data(), sum.data(), of_row.data()};
                std::int64_t e[extent::count] = {};
                e[extent::columns] = columns;
                e[extent::buffer_stride] = 64;
                std::vector<float> scratch(static_cast<std::size_t>(sums::scratch(e, parts)) + 16);
                call c;
                c.p = p;
                c.e = e;
                c.sums = scratch.data();
                c.m = rows;
                c.parts = parts;
                for (c.part = 0; c.part < parts; ++c.part) sums::begin(c);
                for (c.part = 0; c.part < parts; ++c.part) cpu::row_walk<sums>::run(c);
                for (c.part = 0; c.part < parts; ++c.part) sums::finish(c);
                BOOST_TEST((y == want_y), rows << " x " << columns);
                BOOST_TEST((sum == want), rows << " x " << columns);
            }
}

/// In place, and with all that may be read: what there is once a row or a column, integers of both,
/// a number, the column's own.
BOOST_AUTO_TEST_CASE(vectors_that_cross_from_row_to_row) {
    using crossing =
        cpu::body<code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 0}),
                  code({.code = of(opcode::load), .map = map_of(row_map::same), .arg = 1, .row = 1}),
                  code({.code = of(op::mul), .a = 1, .b = 1, .row = 1}),
                  code({.code = of(opcode::load), .map = map_of(row_map::none, instruction::along_columns), .arg = 2}),
                  code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::integers), .arg = 3,
                        .row = 1}),
                  code({.code = of(opcode::load), .map = map_of(row_map::none), .arg = 4, .row = 1}),
                  code({.code = of(op::column_index)}),
                  code({.code = of(op::add), .a = 0, .b = 2}),
                  code({.code = of(op::mul), .a = 7, .b = 3}),
                  code({.code = of(op::add), .a = 8, .b = 4}),
                  code({.code = of(op::mul), .a = 9, .b = 5}),
                  code({.code = of(op::add), .a = 10, .b = 6}),
                  code({.code = of(opcode::store), .a = 11, .arg = 0})>;
    using walk = cpu::crossing_walk<crossing>;
    BOOST_TEST(!cpu::crossing_walk<mixed>::takes(3));
    BOOST_TEST(!walk::takes(cpu::lanes));
    if (!walk::takes(cpu::lanes - 1)) return;   // a processor that does not pick lanes
    BOOST_TEST(cpu::row_walk<crossing>::cases(std::vector<std::int64_t>(extent::count, 5).data(), 100) ==
               cpu::row_walk<crossing>::crossing);
    for (int columns = 1; columns < cpu::lanes; ++columns)
        for (int rows = 1; rows <= 70; ++rows)
            for (int parts = 1; parts <= 4; ++parts) {   // the fourth time some rows, and then the others
                const auto n = static_cast<std::size_t>(columns), m = static_cast<std::size_t>(rows);
                std::vector<float> x(n * m), of_row(m), of_column(n), number{3.f}, want(n * m);
                std::vector<std::int32_t> whole(m);
                for (std::size_t i = 0; i < m; ++i)
                    of_row[i] = static_cast<float>(i * 5 % 11), whole[i] = static_cast<int>(i * 13 % 17) - 8;
                for (std::size_t j = 0; j < n; ++j) of_column[j] = static_cast<float>(j * 3 % 7) - 3.f;
                for (std::size_t i = 0; i < n * m; ++i) {
                    x[i] = static_cast<float>(i * 7 % 23) - 11.f;
                    want[i] = ((x[i] + of_row[i / n] * of_row[i / n]) * of_column[i % n] +
                               static_cast<float>(whole[i / n])) * 3.f +
                              static_cast<float>(i % n);
                }
                float* p[] = {x.data(), of_row.data(), of_column.data(), reinterpret_cast<float*>(whole.data()),
                              number.data()};
                std::int64_t e[extent::count] = {};
                e[extent::columns] = columns;
                call c;
                c.p = p;
                c.e = e;
                c.m = rows;
                c.parts = parts;
                if (parts == 4) walk::rows(0, rows / 3, c), walk::rows(rows / 3, rows, c);
                else for (c.part = 0; c.part < parts; ++c.part) walk::run(c);
                if (x != want) BOOST_FAIL(rows << " rows of " << columns << " in " << parts << " parts");
            }
}

/// Random numbers that two vectors are handed at once, where they begin blocks of the generator's words and where not.
BOOST_AUTO_TEST_CASE(elements_have_their_numbers_whatever_goes_over_them) {
    using plain =
        cpu::body<code({.code = of(opcode::load), .map = map_of(row_map::same, instruction::along_columns), .arg = 0}),
                  code({.code = of(op::random_uniform), .arg = 9}), code({.code = of(op::add), .a = 0, .b = 1}),
                  code({.code = of(opcode::store), .a = 2, .arg = 1})>;
    using summed = cpu::body<code({.code = of(opcode::accumulator)}), code({.code = of(op::random_uniform), .arg = 9}),
                             code({.code = of(op::add), .a = 0, .b = 1}),
                             code({.code = of(opcode::store), .a = 2, .arg = 1}),
                             code({.code = of(opcode::column_sum), .a = 1, .b = 0, .arg = 2})>;
    static_assert(plain::draws && summed::draws && !cpu::body<code({.code = of(op::random_uniform), .row = 1})>::draws);
    for (const int columns : {2 * cpu::lanes, 64, 65, 6 * cpu::lanes + 2, 8 * cpu::lanes + 4})
        for (const int rows : {1, 3, 7}) {
            const auto n = static_cast<std::size_t>(rows * columns),
                width = static_cast<std::size_t>(round_up(columns, cpu::lanes));
            std::vector<float> x(n, 4.f), y(n), want(n), sums(static_cast<std::size_t>(rows) * width, 4.f),
                of_columns(width), scratch(static_cast<std::size_t>(round_up(columns, 64)));
            float* p[] = {x.data(), y.data(), of_columns.data()};
            std::int64_t e[extent::count] = {};
            e[extent::columns] = columns;
            e[extent::buffer_stride] = round_up(columns, 64);
            call c;
            c.p = p;
            c.e = e;
            c.sums = scratch.data();
            c.seed = 17;
            c.step = 4;
            for (std::size_t i = 0; i < n; ++i) want[i] = 4.f + uniform(philox_word(17, i, 4 << 16 | 9));
            const auto check = [&](const char* what, int m, auto go) {
                std::fill(y.begin(), y.end(), -1.f);
                c.m = m;
                go();
                BOOST_TEST((y == want), what << ", " << rows << " x " << columns);
            };
            check("flat", static_cast<int>(n), [&] { cpu::flat_walk<plain>::run(c); });
            check("rows", rows, [&] { cpu::row_walk<plain>::run(c); });
            check("a tile", rows, [&] {
                summed::begin(c);
                cpu::finish_tile<summed>({sums.data(), rows, columns, static_cast<int>(width), 0, columns, 0, 0}, c);
            });
            for (int j = 0; j < columns; ++j) {
                float s = 0;
                for (int i = 0; i < rows; ++i) s += want[static_cast<std::size_t>(i * columns + j)] - 4.f;
                BOOST_TEST(std::abs(scratch[static_cast<std::size_t>(j)] - s) < 1e-5f);
            }
        }
}
