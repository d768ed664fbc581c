// SPDX-License-Identifier: BSL-1.0
// needs: python
#define BOOST_TEST_MODULE onnx_images
#include "support/onnx_run.hpp"
#include <sinter/ops/pad.hpp>
#include <sinter/ops/roll.hpp>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/sinter.hpp>

// Nets of convolutions in onnxruntime: the same outputs, and no more transposes than needed.
using namespace sinter;
using test::agrees;

namespace {
constexpr window by_two{.stride = 2};
constexpr auto lenet = image<10, 8, 3> >> conv2d<4, 3> >> relu >> max_pool<2> >> conv2d<5, 3, by_two>
    >> batch_norm >> relu
                       >> flatten >> dense<4> >> softmax;
/// A block beside which the input passes, then the mean of the image, and a factor for each channel.
constexpr auto residual = image<9, 7, 2> >> [](tensor x) {
    const tensor a = relu(batch_norm(conv2d<4, 3, by_two, bias::no>(x)));
    const tensor passed = conv2d<4, 1, by_two>(x);
    const tensor y = relu(passed + batch_norm(conv2d<4, 3>(a)));
    const tensor share = sigmoid(dense<4>(global_avg_pool(y)));
    return y * ops::reshape(share, extents(1, 1, 4));
} >> avg_pool<3, window{.stride = 2}> >> global_avg_pool >> dense<3>;
/// What has no use for channels first: an image that is turned, cut and put together.
constexpr auto turned = image<4, 6, 2> >> conv2d<2, 3, window{.padding = padding::valid}> >> [](tensor x) {
    const tensor t = permute(x, {1, 0, 2});
    const tensor both = concat(ops::slice(x, 0, 0, 1), ops::slice(x, 0, 1, 1), 2);
    const tensor some = ops::slice(x, {{1, -3, -1}, {3, 0, -2}});
    const tensor wide = pad(pad(some, {{1, 0}, {0, 2}}, 0.5f), {{1, 1}, {2, 1}}, pad_mode::reflect);
    const tensor edge = pad(roll(wide, 3, 1), {{0, 2}}, pad_mode::edge);
    const auto flat = [](tensor y) { return ops::reshape(y, extents(y.shape().size())); };
    return concat({flat(t), flat(both), flat(edge), ops::max(x, {0, 1})});
} >> dense<2>;
/// Windows of all kinds, and the way back.
constexpr window apart{.stride = {2, 1}, .padding = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2};
constexpr auto windows = image<9, 8, 2> >> conv2d<6, per_axis(3, 2), apart> >> relu >> depthwise_conv2d<3>
    >> avg_pool<per_axis(2, 3), window{.stride = {1, 2}, .padding = 1, .count_padding = true}>
    >> conv2d_transpose<4, 3, window{.stride = 2, .padding = 1}, 1>
    >> conv2d_transpose<2, 2, window{.stride = 2, .groups = 2}>
    >> max_pool<per_axis(3, 2), window{.stride = {2, 3}, .padding = padding::valid, .rounding = rounding::ceil}>;
/// A mean that counts its padding, under windows that hang over that as well; rows whose padding is
/// all in front; volumes.
constexpr window over{.stride = 2, .padding = 1, .rounding = rounding::ceil, .count_padding = true};
constexpr window past{.padding = padding::causal, .dilation = 2};
constexpr auto edges = image<6, 5, 2> >> [](tensor x) {
    const auto flat = [](tensor y) { return ops::reshape(y, extents(y.shape().size())); };
    const tensor row = ops::reshape(x, extents(30, 2)), volume = ops::reshape(x, extents(3, 2, 5, 2));
    return bundle(flat(avg_pool<3, over>(x)), flat(conv1d<3, 3, past>(row)), flat(conv3d<2, per_axis(2, 1, 3)>(volume)),
                  flat(avg_pool<2, window{.stride = 1}>(volume)));
};
/// Windows of channels: those that LRN knows and those that it does not.
constexpr auto channels_around = image<4, 3, 7> >> conv2d<6, 3> >> local_response_norm<3, 0.5>
    >> local_response_norm<4, 0.5, 0.6> >> flatten >> local_response_norm<5, 0.5> >> dense<3>;
} // namespace

BOOST_AUTO_TEST_CASE(convolutions_and_a_dense_layer_behind_them) {
    const test::onnx_file f = agrees<lenet>();
    BOOST_TEST(f.count("Transpose") == 1);   // of the input: behind flatten it is the kernel's rows that change places
    BOOST_TEST(f.count("Conv") == 2);
    BOOST_TEST(f.opset == 18u);
    BOOST_TEST((f.constants.at("conv2d/kernel") == std::vector<std::uint64_t>{4, 3, 3, 3}));
    BOOST_TEST(f.inputs == std::vector<std::string>{"input"}, boost::test_tools::per_element());
    BOOST_TEST(f.outputs == std::vector<std::string>{"output"}, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(residual_blocks) {
    const test::onnx_file f = agrees<residual>();
    BOOST_TEST(f.count("Transpose") == 1);
    BOOST_TEST(f.count("AveragePool") == 1);
}
BOOST_AUTO_TEST_CASE(images_that_are_turned) { agrees<turned>(); }
BOOST_AUTO_TEST_CASE(windows_of_all_kinds) { BOOST_TEST(agrees<windows>().count("ConvTranspose") == 2); }
BOOST_AUTO_TEST_CASE(rows_volumes_and_edges) { agrees<edges>(); }
BOOST_AUTO_TEST_CASE(windows_of_channels) {
    const test::onnx_file f = agrees<channels_around>();
    BOOST_TEST(f.count("LRN") == 1);
    BOOST_TEST(f.count("Pow") == 2);
}
