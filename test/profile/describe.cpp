// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE describe
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/elementwise.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/profile/describe.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include <sstream>

/// describe(): a small net's whole text, for a target that is the same on every machine; and the
/// tables of nets with blocks.
using namespace sinter;
using namespace sinter::compiler;

template <class F>
static std::string captured(F f) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&text, &size);
    f(out);
    std::fclose(out);
    const std::string s(text, size);
    std::free(text);
    return s;
}
template <class Net, class Optimizer = sgd>
using program_of = compiled<request<Net, softmax_cross_entropy_loss, Optimizer, program_mode::training, 4,
                                    target{16, 8}, program_options{}>>;

constexpr auto net = image<8, 8, 1> >> conv2d<4, 3> >> relu >> max_pool<2> >> flatten >> dense<3>;

BOOST_AUTO_TEST_CASE(a_small_net) {
    const std::string text = captured([](std::FILE* out) {
        profile::print(profile::text_of_program<program_of<std::remove_const_t<decltype(net)>>>(100), out);
    });
    BOOST_TEST(text == R"(layer                        output               parameters   FLOP/example
conv2d                       [B, 8, 8, 4]                 40         4.86 k
relu                         [B, 8, 8, 4]                  0            256
max_pool                     [B, 4, 4, 4]                  0            256
flatten                      [B, 64]                       0              0
dense                        [B, 3]                      195            387
softmax_cross_entropy        []                            0             64
all                                                      235         5.83 k

10 launches of 10 different kernels; batch 4: 30 k FLOP, 16.2 kB moved, 15.1 kB saved by fusion

launch kernel  layer                  walks over             FLOP     moved     saved  what went into it
     0      0  conv2d                 [B, 4, 4, 4]           20 k   2.46 kB   12.3 kB  conv2d + max_pool + add + relu
     1      1  dense                  [B, 3]               1.55 k   1.85 kB      96 B  gemm + add
     2      2                         [B, 3]                  308     128 B     928 B  row_max + less_maximum + exp + row_sum + log + where + row_sum + sub + row_sum + col_sum + neg + broadcast + where + div + broadcast + mul + add + col_sum
     3      3                         []                        1       8 B       0 B  over_global_batch
     4      4  dense                  [3, 64]                   0   1.54 kB       0 B  weight_transpose
     5      5  dense                  [B, 64]              1.54 k   1.84 kB       0 B  gemm
     6      6  dense                  [64, 3]              1.54 k   2.61 kB   1.54 kB  gemm_tn + update
     7      7                         [B, 4, 4, 4]            512   3.09 kB       0 B  relu_gradient + col_sum
     8      8  conv2d                 [3, 3, 1, 4]         4.61 k   2.59 kB     288 B  conv2d_weight_gradient + update
     9      9                                                 128     384 B       0 B  optimizer

memory at batch 4
parameters             4.8 kB
optimizer                 0 B
gradients               192 B
states                    0 B
activations           3.26 kB   4.35 kB if none lay where others lay before; most alive at once: 3.26 kB, launch 5
scratch space           400 B   of the kernels, one after the other
all                   8.66 kB

activations, largest first           extents                  offset      size   launches
relu                                 [B, 4, 4, 4]                  0   1.02 kB   0 to 7
gemm of dense                        [B, 64]                    2240   1.02 kB   5 to 7
relu_gradient                        [B, 4, 4, 4]                  0   1.02 kB   7 to 8
weight_transpose of dense            [3, 64]                    1472     768 B   4 to 5
max_pool:1 of max_pool               [B, 4, 4, 4]               1024     256 B   0 to 8
add of dense                         [B, 3]                     1280      64 B   1 to 9
col_sum                              [1]                        1344      64 B   2 to 3
over_global_batch                    []                         1344      64 B   3 to 9
add                                  [B, 3]                     1408      64 B   2 to 6
)");
}

using rows = std::vector<profile::layer_text>;
template <class Net>
static rows layers(Net, program_mode mode = program_mode::training) {
    return profile::layers_of<Net, softmax_cross_entropy_loss>(mode);
}
static std::string outline(const rows& all) {
    std::ostringstream s;
    for (const profile::layer_text& l : all)
        s << std::string(static_cast<std::size_t>(l.depth), ' ') << l.name << ' ' << l.out << ' ' << l.parameters
            << '\n';
    return s.str();
}

BOOST_AUTO_TEST_CASE(blocks_show_what_is_in_them) {
    constexpr auto wave = elementwise([](scalar x) { return x * x; });
    constexpr auto block = [](tensor x) { return x + relu(batch_norm(conv2d<2, 3>(x))); };
    constexpr auto deep = image<8, 8, 1> >> named<"stem">(conv2d<2, 3> >> relu) >> named<"first">(block)
        >> checkpoint(conv2d<2, 1> >> wave)
        >> named<"pool">(global_avg_pool) >> named<"a">(named<"b">(dense<4> >> relu)) >> shared<"tower">(dense<4>)
        >> shared<"tower">(dense<4>) >> [](tensor x) { return dense<3>(tanh(x)); };
    BOOST_TEST(outline(layers(deep)) == "stem [B, 8, 8, 2] 20\n conv2d [B, 8, 8, 2] 20\n relu [B, 8, 8, 2] 0\n"
                                        "first [B, 8, 8, 2] 42\n conv2d [B, 8, 8, 2] 38\n batch_norm [B, 8, 8, 2] 4\n"
                                        "checkpoint [B, 8, 8, 2] 6\n conv2d [B, 8, 8, 2] 6\n"
                                        " elementwise [B, 8, 8, 2] 0\n"
                                        "pool [B, 2] 0\n"
                                        "a [B, 4] 12\n b [B, 4] 12\n  dense [B, 4] 12\n  relu [B, 4] 0\n"
                                        "tower [B, 4] 20\ntower [B, 4] 0\n"
                                        "lambda [B, 3] 15\n dense [B, 3] 15\n"
                                        "softmax_cross_entropy [] 0\n");
}
/// The walk is a trace of its own: it must have made the graph that the program was made of.
BOOST_AUTO_TEST_CASE(the_walk_makes_the_programs_graph) {
    constexpr auto n = image<8, 8, 1> >> named<"block">(conv2d<4, 3> >> relu >> dropout<0.5f>) >> conv2d<4, 3>
        >> flatten >> dense<4> >> relu >> dense<3>;
    profile::layer_walk w;
    w.net(n);
    graph whole;
    trace<std::remove_const_t<decltype(n)>, softmax_cross_entropy_loss>(whole, program_mode::training);
    BOOST_TEST_REQUIRE(w.g.n.n < whole.n.n);
    for (int i = 0; i < w.g.n.n; ++i)
        BOOST_TEST((w.g.n[i].k == whole.n[i].k && w.g.n[i].scope == whole.n[i].scope && w.g.n[i].s == whole.n[i].s));
    BOOST_TEST(w.g.parameters.n == whole.parameters.n);
    std::int64_t flops = 0, in_layers = 0;
    for (int i = 0; i < whole.n.n; ++i) flops += profile::flops_of(whole, i);
    for (const profile::layer_text& l : layers(n)) in_layers += l.depth ? 0 : l.flops;
    BOOST_TEST(flops == in_layers);
}
BOOST_AUTO_TEST_CASE(prediction_has_no_loss_and_dropout_does_nothing) {
    constexpr auto n = features<4> >> dense<8> >> dropout<0.5f> >> dense<3>;
    const rows all = layers(n, program_mode::prediction);
    BOOST_TEST(outline(all) == "dense [B, 8] 40\ndropout [B, 8] 0\ndense_1 [B, 3] 27\n");
    BOOST_TEST(all[1].flops == 0);
    BOOST_TEST(all[0].flops == 2 * 4 * 8 + 8);
}
BOOST_AUTO_TEST_CASE(many_buffers_are_summed_up) {
    constexpr auto l = dense<16> >> relu >> dense<24> >> relu;
    constexpr auto n = features<16> >> l >> l >> l >> l >> l >> dense<3>;
    const profile::program_text t = profile::text_of_program<program_of<std::remove_const_t<decltype(n)>, adam>>();
    std::size_t buffers = 0;
    for (int first : t.first) buffers += first >= 0;
    BOOST_TEST_REQUIRE(buffers > profile::most_buffers);
    const std::string text = captured([&](std::FILE* out) { profile::print_memory(t, out); });
    BOOST_TEST(text.find("and " + std::to_string(buffers - profile::most_buffers) + " smaller ones") !=
               std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = text.find("largest first"); at != std::string::npos; at = text.find('\n', at + 1)) ++lines;
    BOOST_TEST(lines == profile::most_buffers + 3);   // the place itself, the end of its line, the buffers, the sum
}
BOOST_AUTO_TEST_CASE(a_trainers_sum_is_its_bytes) {
    trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 4> t({}, {.threads = 1});
    BOOST_TEST(profile::text_of_model(t).bytes() == t.bytes());
    const std::string text = captured([&](std::FILE* out) { describe(t, out); });
    BOOST_TEST(text.find(profile::bytes_text(t.bytes()) + "\n") != std::string::npos);
    BOOST_TEST(captured([&](std::FILE* out) { describe(net, out); }).find("softmax") == std::string::npos);
}
BOOST_AUTO_TEST_CASE(numbers_of_three_digits) {
    const std::pair<double, const char*> all[] = {{0, "0"}, {999, "999"}, {1000, "1 k"}, {1234, "1.23 k"},
                                                  {99'950, "100 k"}, {999'499, "999 k"},
        {999'500, "1 M"}, {999'950, "1 M"}, {1'234'567, "1.23 M"}, {999.6e9, "1 T"}, {1.5e15, "1500 T"}};
    for (auto [x, text] : all) BOOST_TEST(profile::short_number(x) == text);
    BOOST_TEST(profile::bytes_text(640) == "640 B");
    BOOST_TEST(profile::bytes_text(6400) == "6.4 kB");
}
namespace somewhere {
struct my_layer : plain_layer<my_layer> {
    static constexpr tensor trace(tensor x) { return x; }
};
template <int>
struct other {};
} // namespace somewhere
BOOST_AUTO_TEST_CASE(names_of_types) {
    auto lambda = [](tensor x) { return x; };
    BOOST_TEST(profile::short_type_name<somewhere::my_layer>() == "my");
    BOOST_TEST(profile::short_type_name<somewhere::other<3>>() == "other");
    BOOST_TEST(profile::short_type_name<decltype(lambda)>() == "lambda");
    BOOST_TEST(profile::short_type_name<softmax_cross_entropy_loss>() == "softmax_cross_entropy");
    BOOST_TEST(profile::short_type_name<std::remove_const_t<decltype(dropout<0.5f>)>>() == "dropout");
}
