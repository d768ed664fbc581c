// SPDX-License-Identifier: BSL-1.0
// shows training: whatever writes a parameter begins its averages anew
#define BOOST_TEST_MODULE moving_average
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <sinter/train/export_onnx.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "io/temporary_folder.hpp"
#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

constexpr moving_average optimizer{0.9f, sgd{.learning_rate = 0.2f}};
using trainer_type = small_trainer<std::remove_const_t<decltype(optimizer)>>;

static std::vector<float> averages(const trainer_type& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> x = t.plain_slot(t.parameter(i), 0);
        all.insert(all.end(), x.begin(), x.end());
    }
    return all;
}
BOOST_AUTO_TEST_CASE(as_pytorch) { check_run(optimizer, golden::moving_average, 1e-5, averages); }
BOOST_AUTO_TEST_CASE(weights_are_exchanged_and_come_back) {
    trainer_type t(optimizer, {.threads = 1});
    BOOST_TEST(averages(t) == all_parameters(t), boost::test_tools::per_element());   // before the first step
    const small_batch batch;
    for (int i = 0; i < 5; ++i) t.step(batch);
    const std::vector<float> w = all_parameters(t), a = averages(t);
    BOOST_TEST(w != a);
    const float loss = t.evaluate(batch);
    {
        const averaged_weights in_their_place(t);
        BOOST_TEST(all_parameters(t) == a, boost::test_tools::per_element());
        BOOST_TEST(t.evaluate(batch) != loss);
    }
    BOOST_TEST(all_parameters(t) == w, boost::test_tools::per_element());
    BOOST_TEST(averages(t) == a, boost::test_tools::per_element());
    BOOST_TEST(t.evaluate(batch) == loss);
}
/// One device, whose writes fail when there is no memory, as those of sessions that remember what is written.
int writes_left = -1;   // -1: they do not fail
struct without_memory {
    using device = cpu_device;
    static constexpr strategy_traits traits{};

    template <class Programs>
    class session : public single_session<Programs> {
    public:
        session(const without_memory&, int threads)
            : single_session<Programs>(cpu_device::options{.threads = threads}) {}
        void write(compiler::address to, const float* from, std::int64_t n) {
            if (writes_left == 0) throw std::bad_alloc();
            writes_left -= writes_left > 0;
            single_session<Programs>::write(to, from, n);
        }
    };
};
BOOST_AUTO_TEST_CASE(who_lacks_memory_for_the_exchange_goes_on_by_load_alone) {
    constexpr auto net = features<2> >> dense<8> >> batch_norm >> relu >> dense<2>;
    trainer t{net, softmax_cross_entropy, optimizer, max_batch<4>, without_memory{}, {.threads = 1}};
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::int32_t labels[] = {0, 1, 1, 0};
    const data::batch_view batch{.x = x, .labels = labels, .size = 4};
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    for (int i = 0; i < 3; ++i) t.step(batch);
    const std::string weights = folder / "weights.safetensors", exported = folder / "net.onnx";
    save(t, file);
    save(t, weights, saved::weights);
    export_onnx(t, exported);
    const std::string good = read_bytes(file), net_of_it = read_bytes(exported);
    const std::vector<float> w = all_parameters(t);
    for (const int writes : {0, 1, 3}) {
        const auto refuses = [&] {
            writes_left = -1;
            const auto refuse_all = [&] {
                BOOST_CHECK_THROW(t.step(batch), error);
                BOOST_CHECK_THROW(t.evaluate(batch), error);
                BOOST_CHECK_THROW(t.predict(batch), error);
                BOOST_CHECK_THROW(save(t, file), error);
                BOOST_CHECK_THROW(save(t, file, saved::weights), error);
                BOOST_CHECK_THROW(save_to_memory(t), error);
                BOOST_CHECK_THROW(export_onnx(t, exported), error);
            };
            refuse_all();
            BOOST_TEST((read_bytes(file) == good));
            BOOST_TEST((read_bytes(exported) == net_of_it));
            load(t, weights, saved::weights);   // slots stay mixed
            refuse_all();
            load_weights(t, weights, {.ignore = {"dense/*"}, .keep = {"dense/*"}});   // as many tensors as weights
            refuse_all();
            BOOST_TEST(t.steps() == 3);
            load(t, file);
            BOOST_TEST(all_parameters(t) == w, boost::test_tools::per_element());
        };
        {
            const averaged_weights in_their_place(t);
            writes_left = writes;
        }   // and the program lives
        refuses();
        writes_left = writes;
        BOOST_CHECK_THROW(averaged_weights{t}, std::bad_alloc);
        refuses();
    }
    t.step(batch);
}
BOOST_AUTO_TEST_CASE(they_are_saved_with_the_rest) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    trainer_type t(optimizer, {.threads = 1}), other(optimizer, {.threads = 1, .seed = 7});
    const small_batch batch;
    for (int i = 0; i < 3; ++i) t.step(batch);
    save(t, file);
    load(other, file);
    for (int i = 0; i < 3; ++i) t.step(batch), other.step(batch);
    BOOST_TEST(averages(other) == averages(t), boost::test_tools::per_element());
}

/// Whatever writes a parameter begins its averages anew: a table of which a batch names one row, by each way.
constexpr auto looked_up = indices<1> >> embedding<3, 1> >> flatten >> [](tensor x) { return sum(x, {0}); };
constexpr auto as_it_is = [](tensor y, tensor t) { return y * t; };
template <class Optimizer, class Write>
static void check_pretrained(const Optimizer& o, int steps_before, Write write, const char* by) {
    const float pretrained[] = {7, 8, 9}, one[] = {1};
    const std::int32_t id[] = {1};
    const data::input_view in{nullptr, id, 1}, target{one, nullptr, 1};
    const data::batch_view batch{.y = one, .size = 1, .inputs = {&in, 1}, .targets = {&target, 1}};
    trainer t{looked_up, as_it_is, o, max_batch<1>, {.threads = 1}};
    trainer from{looked_up, as_it_is, sgd{}, max_batch<1>, {.threads = 1}};
    from.set_plain(from.parameter(0), pretrained);
    for (int i = 0; i < steps_before; ++i) t.step(batch);
    write(t, from);
    t.step(batch);
    const averaged_weights in_their_place(t);
    const std::vector<float> got = t.plain(t.parameter(0));
    const float moved = steps_before ? 7.99f : 7.9f;   // the first update copies, later ones are a tenth of the average
    BOOST_TEST(got[0] == 7.f, by << ": " << got[0]);
    BOOST_TEST(std::abs(got[1] - moved) < 1e-5f, by << ": " << got[1]);
    BOOST_TEST(got[2] == 9.f, by << ": " << got[2]);
}
BOOST_AUTO_TEST_CASE(averages_of_what_is_written_begin_anew) {
    const temporary_folder folder;
    const std::string file = folder / "weights.safetensors";
    const auto by_all_ways = [&](const auto& o) {
        for (const int steps : {0, 3}) {
            check_pretrained(o, steps, [](auto& t, auto& from) {
                t.set_plain(t.parameter(0), from.plain(from.parameter(0)).data());
            }, "set_plain");
            check_pretrained(o, steps, [](auto& t, auto& from) {
                const std::vector<std::byte> bytes = save_to_memory(from, saved::weights);
                load(t, span<const std::byte>(bytes.data(), bytes.size()), saved::weights);
            }, "bytes");
            check_pretrained(o, steps, [&](auto& t, auto& from) {
                save(from, file, saved::weights);
                load(t, file);
            }, "a file of weights");
            check_pretrained(o, steps, [&](auto& t, auto& from) {
                save(from, file, saved::weights);
                load_weights(t, file, {});
            }, "load_weights");
        }
    };
    by_all_ways(moving_average{0.9f, sgd{.learning_rate = .1f}});
    by_all_ways(clip_by_value{10.f, moving_average{0.9f, sgd{.learning_rate = .1f}}});
}
/// An optimizer of somebody's own, with a copy of the weights in a slot that it does not call an average.
struct towards_the_first_weights {
    static constexpr int slots = 1, n_scalars = 1;
    static constexpr bool copies_parameter(int slot) { return slot == 0; }
    static constexpr void update(update_context& u) {
        u.set_parameter(u.parameter() - (u.parameter() - u.slot(0) + u.gradient()) * u.scalar(0));
    }
    void scalars(std::int64_t, float* out) const { out[0] = 0.5f; }
};
BOOST_AUTO_TEST_CASE(other_copies_begin_with_the_weights) {
    trainer t{looked_up, as_it_is, parameter_groups{sgd{}, group_of<"*">(towards_the_first_weights{})}, max_batch<1>,
              {.threads = 1}};
    const auto& table = t.parameter(0);
    BOOST_TEST(t.plain_slot(table, 0) == t.plain(table), boost::test_tools::per_element());
    const float pretrained[] = {7, 8, 9}, own[] = {1, 2, 3};
    t.set_plain(table, pretrained);
    BOOST_TEST(t.plain_slot(table, 0) == t.plain(table), boost::test_tools::per_element());
    t.set_plain_slot(table, 0, own);
    BOOST_TEST(t.plain_slot(table, 0) == std::vector<float>(own, own + 3), boost::test_tools::per_element());
    BOOST_TEST(t.plain(table) == std::vector<float>(pretrained, pretrained + 3), boost::test_tools::per_element());
}
