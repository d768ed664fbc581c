// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gradient_memory
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/clip.hpp>

/// Memory is laid out for those gradients alone that are stored: what a kernel's update uses up has none.
using namespace sinter;
using compiler::space;

constexpr auto perceptron = features<784> >> dense<1024> >> relu >> dense<1024> >> relu >> dense<10>;
template <class Optimizer, program_options O = program_options{}>
using model_of = trainer<std::remove_const_t<decltype(perceptron)>, softmax_cross_entropy_loss, Optimizer,
                         build_options{64, O}>;

/// Stored gradients lie behind each other, in whole lines of 16 floats, each in a place of its own.
template <class Trainer>
static std::int64_t floats_of_stored_gradients() {
    std::int64_t n = 0;
    std::vector<bool> taken;
    for (int i = 0; i < Trainer::parameters(); ++i) {
        const variable_info& v = Trainer::parameter(i);
        if (v.gradient.where() == space::none) continue;
        const std::int64_t floats = base::round_up(v.floats, 16), at = v.gradient.offset();
        n += floats;
        taken.resize(std::max(taken.size(), static_cast<std::size_t>(at + floats)));
        for (std::int64_t k = at; k < at + floats; ++k) {
            BOOST_TEST(!taken[static_cast<std::size_t>(k)]);
            taken[static_cast<std::size_t>(k)] = true;
        }
    }
    BOOST_TEST(static_cast<std::int64_t>(taken.size()) == n);
    return n;
}
BOOST_AUTO_TEST_CASE(kernels_that_update_need_none) {
    using model = model_of<adam>;
    constexpr auto& p = model::training::v;
    const std::int64_t stored = floats_of_stored_gradients<model>();
    BOOST_TEST(stored > 0);      // of biases
    BOOST_TEST(stored < 3000);   // of 1,863,690 numbers
    BOOST_TEST(p.floats(space::gradient) < stored + 200);
    constexpr std::int64_t numbers = 784 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 10 + 10;
    BOOST_TEST(model::bytes() < 3 * 4 * numbers + 2'000'000);   // weights and two slots; activations
}
BOOST_AUTO_TEST_CASE(all_where_they_are_wanted) {
    for (const auto& [stored, trained] :
         {std::pair{floats_of_stored_gradients<model_of<adam, program_options{.store_gradients = true}>>(),
                    model_of<adam, program_options{.store_gradients = true}>::training::v.z.trained},
          std::pair{floats_of_stored_gradients<model_of<clip_by_global_norm<sgd>>>(),
                    model_of<clip_by_global_norm<sgd>>::training::v.z.trained}})
        BOOST_TEST(stored == trained);
}
