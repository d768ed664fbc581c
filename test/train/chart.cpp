// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE chart
#include <boost/test/unit_test.hpp>
#include <sinter/train/chart.hpp>
#include <cmath>

using namespace sinter;

static int count(const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
    return n;
}

// Enough of XML to notice an element left open, a stray bracket or an unescaped ampersand.
static bool well_formed(const std::string& s) {
    int depth = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (s[i] == '&' && s.substr(i, 5) != "&amp;" && s.substr(i, 4) != "&lt;" && s.substr(i, 4) != "&gt;" &&
            s.substr(i, 6) != "&quot;")
            return false;
        if (s[i] == '>') return false;
        if (s[i] != '<') continue;
        const std::size_t end = s.find_first_of("<>", i + 1);
        if (end == std::string::npos || s[end] != '>') return false;
        if (s[i + 1] == '/') --depth;
        else if (s[end - 1] != '/') ++depth;
        i = end;
    }
    return depth == 0;
}

BOOST_AUTO_TEST_CASE(axes_are_round) {
    const axis a = axis::around(0.231, 0.512, 5);
    BOOST_TEST(a.low == 0.2, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(a.high == 0.6, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(a.ticks() == 5);
    BOOST_TEST(a.label(0) == "0.2");
    BOOST_TEST(axis::around(0, 60000, 6).label(1) == "10000");
    BOOST_TEST(axis::around(-1, 1, 4).label(2) == "0.0");
    BOOST_TEST(axis::around(0.1, 0.3, 2).high == 0.3, boost::test_tools::tolerance(1e-12));
    for (double v : {0.0, 5.0, -3.0, 1e-9, 1e12}) {   // one value has an axis around it
        const axis same = axis::around(v, v, 5);
        BOOST_TEST((same.low < v && v < same.high));
    }
    BOOST_TEST(axis::around(NAN, NAN, 5).ticks() == 6);
    BOOST_TEST(axis::around(-1.7e308, 1.7e308, 5).ticks() < 20);
}

BOOST_AUTO_TEST_CASE(a_line_chart_has_its_curves_legend_and_labels) {
    const line_chart loss{"Loss & <more>", "epoch", "nats", {{"training", {3, 2, 1}}, {"test", {3, NAN, 2, 1.5}}}};
    const std::string s = to_svg({loss, loss});
    BOOST_TEST(well_formed(s));
    BOOST_TEST(count(s, "<path ") == 4);
    BOOST_TEST(count(s, ">training</text>") == 2);
    BOOST_TEST(count(s, "Loss &amp; &lt;more&gt;</text>") == 2);
    BOOST_TEST(count(s, "<circle ") == 2 * (3 + 3));   // no dot for NaN
    BOOST_TEST(count(s, "nan") == 0);
    // Epochs 1 to 4 run from edge to edge: x from 64 to 460; 3 is the highest tick, at y = 64, and 1 the lowest, 268.
    BOOST_TEST(count(s, "M64 64L196 166L328 268") == 1);
    BOOST_TEST(count(s, "M64 64M328 166L460 217") == 1);
}

BOOST_AUTO_TEST_CASE(charts_of_nothing_and_of_very_much) {
    BOOST_TEST(well_formed(to_svg(std::vector<line_chart>{})));
    BOOST_TEST(count(to_svg(line_chart{"", "", "", {{"a", {}}}}), "nothing to show") == 1);
    curve much{"steps", std::vector<double>(100000, 1.0)};
    const std::string s = to_svg(line_chart{"Loss", "step", "loss", {much}});
    BOOST_TEST(s.size() < 30000u);
    BOOST_TEST(well_formed(s));
    const curve thin = svg::thinned({"", {1, 3, 5, 7}}, 2);
    BOOST_TEST(thin.y == (std::vector<double>{2, 6}));
    BOOST_TEST(thin.x == (std::vector<double>{1.5, 3.5}));
}

BOOST_AUTO_TEST_CASE(a_heat_map_names_classes_and_counts) {
    metrics::confusion_matrix m(3);
    for (int i = 0; i < 321; ++i) m.add(0, 0);
    for (int i = 0; i < 40; ++i) m.add(0, 2);
    m.add(1, 1);
    const std::string_view names[] = {"cat", "dog & wolf"};
    const std::string s = to_svg(m, names);
    BOOST_TEST(well_formed(s));
    BOOST_TEST(count(s, ">321</text>") == 1);
    BOOST_TEST(count(s, ">dog &amp; wolf</text>") == 2);
    BOOST_TEST(count(s, ">2</text>") == 2);      // the class without a name
    BOOST_TEST(count(s, "#084081") == 1);        // all of class 1 was recognised: the darkest cell
    BOOST_TEST(count(s, ">-</text>") == 1);      // class 2 has no examples, so no recall
}
