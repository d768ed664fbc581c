// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
// processors: 2
#define BOOST_TEST_MODULE non_temporal
#include <boost/test/unit_test.hpp>
#include <sinter/data/source/drawn_digits.hpp>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/sinter.hpp>
#include <bit>

// Large results are written by non-temporal stores: here all that are whole lines. Not a bit of
// what is trained may change.
using namespace sinter;
using namespace sinter::compiler;

template <bool Walks>
static constexpr sinter::compiler::target far_target() {
    sinter::compiler::target t = cpu_device::target;
    t.non_temporal_floats = 1;
    t.non_temporal_walks = Walks;
    return t;
}
template <bool Walks>
struct non_temporal_device : cpu_device {
    static constexpr sinter::compiler::target target = far_target<Walks>();
    using cpu_device::cpu_device;
};

template <int N>
static constexpr auto block = [](tensor x) {
    return relu(x + batch_norm(conv2d<N, 1>(relu(batch_norm(conv2d<N, 3>(relu(batch_norm(conv2d<N, 1>(x)))))))));
};
static constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 5, window{.stride = 2}> >> batch_norm >> relu >> block<32> >> max_pool<3, window{.stride = 2}>
    >> [](tensor x) {
        return concat({relu(conv2d<16, 1>(x)), relu(conv2d<48, 3>(x)), relu(conv2d<16, 5>(x)),
                       max_pool<3, window{}>(x)});
    }
    >> local_response_norm<> >> conv2d<64, 1, window{.stride = 2}> >> relu >> avg_pool<2> >> flatten
    >> dense<64> >> gelu >> layer_norm >> dense<16> >> relu >> dense<10>;

template <class Device>
static std::vector<std::uint32_t> trained(int threads) {
    trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 32,
            single<Device>> t(sgd{.learning_rate = 0.05f}, {.threads = threads, .seed = 4});
    auto p = data::source(data::drawn_digits(100, 3)) | data::batch(32);
    while (t.steps() < 6)
        if (const data::batch_view* b = p.next()) t.step(*b);
    std::vector<std::uint32_t> all;
    for (int i = 0; i < t.parameters(); ++i)
        for (float v : t.plain(t.parameter(i))) all.push_back(std::bit_cast<std::uint32_t>(v));
    for (int i = 0; i < t.states(); ++i)
        for (float v : t.plain(t.state(i))) all.push_back(std::bit_cast<std::uint32_t>(v));
    return all;
}

BOOST_AUTO_TEST_CASE(the_same_bits) {
    const auto near = trained<cpu_device>(1);
    BOOST_TEST((trained<non_temporal_device<false>>(1) == near));
    BOOST_TEST((trained<non_temporal_device<false>>(2) == near));
    BOOST_TEST((trained<non_temporal_device<true>>(1) == near));
    BOOST_TEST((trained<non_temporal_device<true>>(2) == near));
}
/// Where vectors are as long as lines, programs do write so, from 8 MB on; where they are half as long, only walks do.
BOOST_AUTO_TEST_CASE(large_results_are_marked) {
    constexpr auto marked = []<class P>(const P*) {
        int n = 0;
        for (int i = 0; i < P::n_specs; ++i)
            for (int k = 0; k < P::v.specs[i].instructions; ++k) {
                const instruction w = instruction::unpack(P::v.code[P::v.specs[i].code + k]);
                n += w.is(opcode::store) && w.is_non_temporal();
            }
        return n;
    };
    using far = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 32,
                        single<non_temporal_device<false>>>::training;
    using walks = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 32,
                          single<non_temporal_device<true>>>::training;
    using near = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 32>::training;
    BOOST_TEST(marked(static_cast<const far*>(nullptr)) > 8);
    BOOST_TEST(marked(static_cast<const walks*>(nullptr)) > 0);
    BOOST_TEST(marked(static_cast<const walks*>(nullptr)) < 8);
    BOOST_TEST(marked(static_cast<const near*>(nullptr)) == 0);
}
