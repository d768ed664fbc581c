// SPDX-License-Identifier: BSL-1.0
// shows numbers: random programs with loops, fused and unfused, beside a plain evaluation; padding counts in no norm
#define BOOST_TEST_MODULE random_programs
#include <boost/test/unit_test.hpp>

#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include <map>
#include <string>

#include "compiler/shrink.hpp"

/// 400 random programs, with loops and without, each for a target and options of its own: fused and
/// unfused they give the same loss, outputs, states and trained parameters, and what the graph
/// means. One that does not is made as small as it can be, and printed.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

static const tested_optimizer with_sgd{make_optimizer_code<sgd>(), {}, update_by_sgd};

static recipe program(unsigned seed) { return recipe::drawn(seed, 3 + static_cast<int>(seed % 12), true, true); }

BOOST_AUTO_TEST_CASE(fused_and_unfused_are_the_same) {
    std::map<std::string, int> made;   // what passes have made
    const comparison difference(with_sgd, {.before_emission = [&](passes& p) {
        for (int i = 0; i < p.g.parameters.n; ++i) made["row lists"] += p.list_rows[i] > 0;
        for (int l = 0; l < p.g.loops.n; ++l)
            if (const int v = p.g.loops[l].count; v >= 0) made["counts of loops"] += p.p.at[v].slot > 0;
        for (int v = 0; v < p.g.n.n; ++v) {
            const node& n = p.g.n[v];
            made["rows of loops"] += n.k == op::loop_input && !n.s.batched && p.p.at[v].slot > 0;
            ++made[n.about->self.name];
            if (n.k == op::gemm_tn && n.p[gemm_tn_attribute::sums_d]) ++made["column sums"];
            if (n.k == op::gemm && n.p[gemm_attribute::transposed]) ++made["transposed weights"];
        }
    }});
    int loops = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        if (difference(program(seed))) {
            const recipe small = shrunk(program(seed), difference);
            BOOST_ERROR("seed " << seed << ": " << *difference(program(seed)) << "\nthe smallest such program: "
                        << *difference(small) << '\n' << written(small));
        }
        graph g;
        random_graph(g, program(seed)).build();
        loops += g.loops.n;
    }
    BOOST_TEST(loops > 50);
    for (const char* what :
         {"column sums", "transposed weights", "product_sum", "unique_rows", "unique_weights", "unique_table",
          "round_to_bfloat16", "bfloat16_weights", "bfloat16_gemm", "bfloat16_gemm_tn", "row lists",
          "clip", "local_response_norm", "interpolate", "linear_scan", "convolution", "matmul", "probit",
          "middle_moment", "counts of loops", "rows of loops"}) {
        BOOST_TEST_MESSAGE(made[what] << ' ' << what);
        BOOST_TEST(made[what] > 0, what << " was not made");
    }
}

static double squares(const numbers& x) {
    double sum = 0;
    for (const double e : x) sum += e * e;
    return sum;
}
static void scale(numbers& x, double by) {
    for (double& e : x) e *= by;
}
static const tested_optimizer clipped{
    make_optimizer_code<clip_by_global_norm<sgd>>(), {},
    [](std::vector<numbers>& p, const std::vector<numbers>& gradients, const surroundings& o) {
        std::vector<numbers> d = gradients;
        double all = 0;
        for (const numbers& x : d) all += squares(x);
        for (numbers& x : d) scale(x, std::min(1., o.scalars[2] / (std::sqrt(all) + double{1e-6f})));
        update_by_sgd(p, d, o);
    }};
static const tested_optimizer each_clipped{
    make_optimizer_code<clip_by_norm<sgd>>(), {make_optimizer_code<clip_by_norm<sgd>>(0, 0)},
    [](std::vector<numbers>& p, const std::vector<numbers>& gradients, const surroundings& o) {
        std::vector<numbers> d = gradients;
        for (numbers& x : d) scale(x, std::min(1., o.scalars[2] / (std::sqrt(squares(x)) + double{1e-6f})));
        update_by_sgd(p, d, o);
    }};
static const tested_optimizer with_lamb{
    make_optimizer_code<lamb>(), {make_optimizer_code<lamb>(0, 0)},
    [](std::vector<numbers>& p, const std::vector<numbers>& d, const surroundings& o) {
        const std::vector<double>& s = o.scalars;
        for (std::size_t i = 0; i < p.size(); ++i) {
            numbers r;
            for (std::size_t k = 0; k < d[i].size(); ++k) {
                const double g = d[i][k];
                r.push_back(g * s[1] * s[0] / (std::sqrt(g * g * s[3]) * s[4] + s[5]) + p[i][k] * s[6]);
            }
            const double own = std::sqrt(squares(p[i])), its = std::sqrt(squares(r));
            const double ratio = own > 0 && its > 0 ? own / its : 1;
            for (std::size_t k = 0; k < r.size(); ++k) p[i][k] -= r[k] * ratio * s[7];
        }
    }};
static recipe program_of_shared(unsigned seed) {
    recipe r = program(seed);
    r.shared = true;
    return r;
}
/// Padding of packed weights is in no norm, whatever their extents are and however often they are used.
BOOST_AUTO_TEST_CASE(norms_are_of_numbers_that_are_there) {
    int used_twice = 0, wrong = 0;
    const extra_passes count{.before_emission = [&](passes& p) {
        for (int i = 0; i < p.g.parameters.n; ++i)
            if (const int d = p.gradients[i]; d >= 0 && p.g.n[d].s.form == layout::weights)
                used_twice += p.g.n[d].about->kind == op_kind::elementwise && p.g.n[d].s.last() == 1;
    }};
    const comparison differences[] = {comparison(clipped, count), comparison(each_clipped, count),
                                      comparison(with_lamb, count)};
    for (unsigned seed = 1; seed <= 300 && wrong < 5; ++seed) {
        const comparison& difference = differences[seed % 3];
        if (!difference(program_of_shared(seed))) continue;
        ++wrong;
        const recipe small = shrunk(program_of_shared(seed), difference);
        BOOST_ERROR("seed " << seed << ": " << *difference(program_of_shared(seed)) << "\nthe smallest such program: "
                    << *difference(small) << '\n' << written(small));
    }
    BOOST_TEST(used_twice > 20);
}

/// A pass that is wrong must be found, and what it breaks told in a few lines.
static recipe smallest(const extra_passes& broken, const char* what) {
    const comparison difference(with_sgd, broken);
    for (unsigned seed = 1; seed <= 400; ++seed) {
        if (!difference(program(seed))) continue;
        const recipe small = shrunk(program(seed), difference);
        BOOST_TEST(difference(small).has_value());
        BOOST_TEST_MESSAGE(what << ", seed " << seed << ": " << *difference(small) << '\n' << written(small));
        return small;
    }
    BOOST_ERROR(what << " was not found");
    return {};
}
BOOST_AUTO_TEST_CASE(a_pass_that_takes_operands_for_exchangeable_is_found) {
    const recipe small = smallest({.before_gradients = [](graph& g) {
        for (int v = 0; v < g.n.n; ++v)
            if (g.n[v].k == op::div && !g.n[v].loop) std::swap(g.n[v].in[0], g.n[v].in[1]);
    }}, "a quotient the wrong way round");
    BOOST_TEST(steps_kept(small) == 1);
    BOOST_TEST(written(small).find("div(") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(a_plan_that_forgets_a_reader_is_found) {
    const recipe small = smallest({.before_emission = [](passes& p) {   // each value lies where the one before it lay
        int before = -1;
        for (int v = 0; v < p.g.n.n; ++v) {
            if (!p.f.stored[v] || p.f.of[v] < 0 || p.p.at[v].where() != space::activation || p.g.n[v].loop) continue;
            if (before >= 0 && p.f.of[before] < p.f.of[v] && count(p.g.n[v].s, 3) <= count(p.g.n[before].s, 3))
                p.p.at[v] = p.p.at[before];
            before = v;
        }
    }}, "memory that is still read");
    BOOST_TEST(steps_kept(small) <= 2);
}
/// The same where what is broken is rare: each kind of draw finds what it is there for.
BOOST_AUTO_TEST_CASE(a_loop_that_begins_at_a_wrong_row_of_what_another_left_is_found) {
    smallest({.before_emission = [](passes& p) {
        for (int v = 0; v < p.g.n.n; ++v)
            if (p.g.n[v].k == op::loop_input && !p.p.at[v].batched && p.p.at[v].slot) p.p.at[v].slot -= p.p.at[v].slice;
    }}, "a wrong row");
}
BOOST_AUTO_TEST_CASE(a_count_that_is_read_before_the_loop_that_makes_it_is_found) {
    smallest({.before_emission = [](passes& p) {
        for (int l = 0; l < p.g.loops.n; ++l)
            if (p.g.loops[l].count >= 0) p.p.at[p.g.loops[l].count].slot = 0;
    }}, "the first value for the last");
}
BOOST_AUTO_TEST_CASE(functions_of_the_other_operand_are_found) {
    smallest({.before_gradients = [](graph& g) {
        for (int v = 0; v < g.n.n; ++v)
            if (g.n[v].k == op::atan2 || g.n[v].k == op::mod || g.n[v].k == op::pow)
                std::swap(g.n[v].in[0], g.n[v].in[1]);
    }}, "an operand for the other");
}
BOOST_AUTO_TEST_CASE(recurrences_the_wrong_way_round_are_found) {
    smallest({.before_gradients = [](graph& g) {
        for (int v = 0; v < g.n.n; ++v)
            if (g.n[v].k == op::linear_scan) std::swap(g.n[v].in[0], g.n[v].in[1]);
    }}, "a factor for a term");
}
/// A program whose loop's constant count was once moved behind the loop, into a walk over the same.
BOOST_AUTO_TEST_CASE(a_count_is_there_before_its_loop) {
    const auto difference = comparison(with_sgd)(program(5012529));
    BOOST_TEST(!difference.has_value(), difference.value_or(""));
}
