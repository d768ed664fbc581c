// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pages
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/io/file.hpp>
#include <sinter/profile/graphviz.hpp>
#include <sinter/profile/html.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>

#include "io/temporary_folder.hpp"
#include "profile/page_checks.hpp"

/// The HTML page and the Graphviz file (describe.cpp tests the printed text): well-formed, whatever
/// the layers are called, and with the numbers of the program's own cost and plan.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr auto net = image<12, 12, 1> >> named<"a<b>&\"c\\">(conv2d<4, 3> >> relu >> max_pool<2>) >> conv2d<6, 3>
    >> batch_norm >> gelu >> checkpoint(conv2d<6, 3> >> relu >> conv2d<6, 1>) >> flatten >> dropout<0.25f> >> dense<5>;
template <program_options O = program_options{}>
using program_of = compiled<request<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam,
                                    program_mode::training, 16, cpu_device::target, O>>;

static profile::program_text& described() {
    static profile::program_text t = profile::text_of_program<program_of<>>();
    return t;
}

BOOST_AUTO_TEST_CASE(the_page_is_well_formed_and_stands_alone) {
    const std::string page = profile::html(described());
    BOOST_TEST(what_is_malformed(page) == "");
    for (const char* outside : {"http", "src=", "@import", "url("}) BOOST_TEST(times(page, outside) == 0, outside);
    BOOST_TEST(times(page, "a&lt;b&gt;&amp;&quot;c\\") > 2);
    BOOST_TEST(times(page, "a<b>") == 0);
    BOOST_TEST(times(page, "prefers-color-scheme: dark") == 1);
}
BOOST_AUTO_TEST_CASE(its_figures_are_those_of_cost_and_plan) {
    const std::string page = profile::html(described());
    using P = program_of<>;
    constexpr program_cost c = cost_of<P>();
    auto figure = [](const std::string& s) { return "<b>" + s + "</b>"; };
    BOOST_TEST(times(page, figure(profile::short_number(static_cast<double>(c.total.flops.at(16))))) >= 1);
    BOOST_TEST(times(page, figure(profile::bytes_text(c.total.read.at(16) + c.total.written.at(16)))) >= 1);
    BOOST_TEST(times(page, figure(profile::bytes_text(c.total.saved.at(16)))) >= 1);
    BOOST_TEST(times(page, figure(std::to_string(P::v.n_launches) + " / " + std::to_string(P::v.n_specs))) == 1);
    BOOST_TEST(times(page, figure(profile::bytes_text(P::v.bytes()))) >= 1);
    BOOST_TEST(times(page, figure(profile::bytes_text(4 * P::v.z.activations))) >= 1);
    BOOST_TEST(times(page, "<tr id=\"k") == P::v.n_launches);
    int buffers = 0;
    for (int first : described().first) buffers += first >= 0;
    BOOST_TEST(times(page, "class=\"buffer ") == buffers);
    BOOST_TEST(times(page, "class=\"buffer again\"") > 0);
}
BOOST_AUTO_TEST_CASE(kernels_add_up_to_the_program) {
    const profile::program_text& t = described();
    group_cost sum;
    for (const profile::kernel_text& k : t.kernels) {
        sum.flops.add(k.group < 0 ? batch_count{} : k.cost.flops);
        sum.saved.add(k.cost.saved);
    }
    BOOST_TEST(sum.flops.at(16) == t.cost.total.flops.at(16));
    BOOST_TEST(sum.saved.at(16) == t.cost.total.saved.at(16));
    BOOST_TEST(static_cast<int>(t.kernels.size()) == t.cost.launches);
}
BOOST_AUTO_TEST_CASE(buffers_do_not_overlap_while_they_live) {   // but what reads a value last may write over it
    const profile::program_text& t = described();
    std::int64_t top = 0;
    for (int v = 0; v < t.g.n.n; ++v) {
        if (t.first[v] < 0) continue;
        const std::int64_t at = t.at[v].offset(), size = t.floats[v];
        top = std::max(top, at + size);
        for (int u = 0; u < v; ++u)
            if (t.first[u] >= 0 && t.first[u] <= t.last[v] && t.first[v] <= t.last[u]) {
                const bool over = t.last[u] == t.first[v] || t.last[v] == t.first[u];
                if (over && t.at[u].offset() == at && t.floats[u] == size) continue;
                BOOST_TEST((t.at[u].offset() + t.floats[u] <= at || at + size <= t.at[u].offset()), u << " and " << v);
            }
    }
    BOOST_TEST(top == t.z.activations);
}
BOOST_AUTO_TEST_CASE(layers_hold_all_parameters) {
    std::int64_t n = 0;
    for (const profile::layer_text& l : described().layers) n += l.depth ? 0 : l.parameters;
    BOOST_TEST(n == 9 * 4 + 4 + 9 * 4 * 6 + 6 + 2 * 6 + 9 * 36 + 6 + 36 + 6 + 216 * 5 + 5);
}

BOOST_AUTO_TEST_CASE(the_graph_is_whole_and_escaped) {
    const profile::program_text& t = described();
    const std::string dot = profile::graphviz(t);
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < dot.size(); ++i) {
        if (quoted && dot[i] == '\\') ++i;
        else if (dot[i] == '"') quoted = !quoted;
        else if (!quoted) {
            depth += dot[i] == '{' ? 1 : dot[i] == '}' ? -1 : 0;
            BOOST_TEST(depth >= 0);
        }
    }
    BOOST_TEST(depth == 0);
    BOOST_TEST(!quoted);
    BOOST_TEST(times(dot, "a<b>&\\\"c\\\\/conv2d/kernel") == 1);
    int groups = 0;
    for (const profile::kernel_text& k : t.kernels) groups += k.group >= 0;
    BOOST_TEST(times(dot, "subgraph cluster_") == groups);
    for (int v = 0; v < t.g.n.n; ++v)   // every node that is computed is declared once; what is dead does not occur
        BOOST_TEST(times(dot, "  n" + std::to_string(v) + " [label=\"") ==
                   (t.live[v] && !is_view(t.g.n[v]) && t.g.n[v].k != op::constant ? 1 : 0), "node " << v);
}
BOOST_AUTO_TEST_CASE(files_are_written_for_a_net_alone) {
    temporary_folder folder;
    write_html(net, folder / "page.html");
    write_graphviz(net, folder / "graph.dot");
    const std::string page = read_bytes(folder / "page.html"), dot = read_bytes(folder / "graph.dot");
    BOOST_TEST(what_is_malformed(page) == "");
    BOOST_TEST(times(page, "one prediction") == 1);
    BOOST_TEST(times(dot, "digraph") == 1);
    BOOST_CHECK_THROW(write_html(net, folder / "page.html/page.html"), io_error);   // no folder
}
