// SPDX-License-Identifier: BSL-1.0
// weighs: 3
// needs: distributed
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/expr/initialized.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/embedding_bag.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>
#include "job.hpp"

// Tables on servers, workers and servers in processes of their own: bags, columns and a sampled softmax end as on one
// device; keys of 64 bits as the rows of a table that has one for each.
using namespace sinter;

namespace {

constexpr int batch = 8, steps = 20, rows = 40;

struct examples {
    std::int32_t whole[64 * 4], labels[64];
    std::int64_t keys[64 * 4];
    float y[64 * 4];
    examples() {
        random_stream r(3);
        for (int i = 0; i < 64 * 4; ++i) {
            whole[i] = static_cast<int>(r.word() % rows);
            keys[i] = key_of(whole[i]);
        }
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % 5);
        for (float& f : y) f = r.uniform(-1, 1);
    }
    /// Beyond what floats and 32 bits hold, of either sign.
    static std::int64_t key_of(std::int64_t row) { return (row - rows / 2) * 0x0123456789abcdefll; }
};
const examples& data_() {
    static const examples all;
    return all;
}
/// Steps of a net of `Columns` inputs of `Width` integers (or keys).
template <int Columns, int Width, bool Keys, class Trainer>
std::vector<float> run(Trainer& t) {
    const auto batch_of = [](int i, data::input_view* in) {
        for (int c = 0; c < Columns; ++c) {
            const int first = (i % 8 * batch * Width + 7 * c) % (64 * 4 - batch * Width);
            in[c] = Keys
                ? data::input_view{nullptr, reinterpret_cast<const std::int32_t*>(data_().keys + first), 2 * Width}
                         : data::input_view{nullptr, data_().whole + first, Width};
        }
        data::batch_view b;
        b.labels = data_().labels + i % 8 * batch, b.y = data_().y, b.size = batch;
        b.inputs = {in, std::size_t{Columns}};
        return b;
    };
    std::vector<float> seen;
    data::input_view in[Columns];
    for (int i = 0; i < steps; ++i) seen.push_back(t.step(batch_of(i, in)));
    for (int i = 0; i < 8; ++i) {
        seen.push_back(t.evaluate(batch_of(i, in)));
        const auto y = t.predict(batch_of(i, in));
        seen.insert(seen.end(), y.begin(), y.end());
    }
    return seen;
}
std::string hash_of(const std::vector<float>& x) {
    return hash_text(std::as_bytes(std::span<const float>(x.data(), x.size())));
}
template <int Columns, int Width, class Strategy, class Net, class Loss, class Optimizer>
std::string trained(const Strategy& strategy, Net net, Loss loss, Optimizer o) {
    trainer t{net, loss, o, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    const std::vector<float> seen = run<Columns, Width, false>(t);
    t.end_training();
    const std::vector<std::byte> file = t.session().member().chief() ? save_to_memory(t) : std::vector<std::byte>{};
    return to_text({"loss ", base::general_text(double{seen[steps - 1]}, 9), ", outputs ", hash_of(seen), ", file ",
                   hash_text({file.data(), file.size()})});
}
/// `Plain`: without canonical.
template <int Columns, int Width, bool Plain = false, class Net, class Loss, class Optimizer>
void compare(Net net, Loss loss, Optimizer o, const char* what, int servers = 2) {
    const auto form = [](const auto& s) {
        if constexpr (Plain) return s;
        else return canonical<1>(s);
    };
    const std::string expected = trained<Columns, Width>(form(single<cpu_device>{}), net, loss, o);
    server_job job(1, servers);
    job.start_all([=](const cluster& c) {
        return trained<Columns, Width>(form(parameter_server<sync<0>>{c}), net, loss, o);
    });
    const std::string found = job.result(0);
    BOOST_TEST(found == expected, what << ": " << found << ", not " << expected);
    for (int i = 1; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
}

BOOST_AUTO_TEST_CASE(nets_with_tables_end_as_on_one_device) {
    compare<1, 4>(indices<4> >> embedding_bag<rows, 5, combine::mean, 3> >> dense<5>, softmax_cross_entropy,
                  adam{}, "bag");
    compare<2, 1>(inputs(indices<1>, indices<1>) >> embedding_columns<4, rows, rows> >> flatten >> dense<5>,
                  softmax_cross_entropy, momentum{}, "columns", 3);
    compare<1, 2, true>(indices<2> >> embedding<rows, 6> >> flatten >> candidate_scores<50>, sampled_softmax<50, 9>,
                        sgd{}, "sampled softmax");
}

// The same rows by their numbers, and by keys: both begin alike, and so end alike.
constexpr auto by_number = indices<4> >> initialized<constant_of(0.125f), "*/table">(embedding<rows, 6>) >> flatten
    >> dense<1>;
constexpr auto by_key = keys<4>
    >> initialized<constant_of(0.125f), "*/table">(hashed_embedding<6, hashed_options{.most_rows = 200}>) >> flatten
    >> dense<1>;

BOOST_AUTO_TEST_CASE(keys_have_rows_of_their_own) {
    trainer one{by_number, mse, adam{}, max_batch<batch>, canonical<1>(single<cpu_device>{}), {.threads = 1}};
    const std::string expected = hash_of(run<1, 4, false>(one));
    server_job job(1, 3);
    job.start_all([](const cluster& c) -> std::string {
        trainer t{by_key, mse, adam{}, max_batch<batch>, canonical<1>(parameter_server<sync<0>>{c}), {.threads = 1}};
        if (t.has_served()) return "served";
        const std::vector<float> seen = run<1, 4, true>(t);
        t.end_training();
        return hash_of(seen);
    });
    BOOST_TEST(job.result(0) == expected);
    for (int i = 1; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
}

constexpr auto admits_late = keys<4>
    >> hashed_embedding<6, hashed_options{.most_rows = 16, .admit_after = 3, .expire_after = 50,
                                          .full = when_full::evict}> >> flatten >> dense<1>;

BOOST_AUTO_TEST_CASE(workers_at_their_own_pace_share_keys) {
    server_job job(2, 2);
    job.start_all([](const cluster& c) -> std::string {
        trainer t{admits_late, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, parameter_server<async>{c},
                  {.threads = 1}};
        if (t.has_served()) return "served";
        double first = 0, last = 0;
        for (int round = 0; round < 6; ++round) {
            const std::vector<float> seen = run<1, 4, true>(t);
            for (int i = 0; i < steps; ++i)
                (round == 0 ? first : last) += round == 0 || round == 5 ? double{seen[std::size_t(i)]} : 0;
        }
        t.end_training();
        return last < first ? "learns"
            : to_text({"from ", base::general_text(first, 4), " to ", base::general_text(last, 4)});
    });
    for (int i = 0; i < 2; ++i) BOOST_TEST(job.result(i) == "learns");
    for (int i = 2; i < 4; ++i) BOOST_TEST(job.result(i) == "served");
}

} // namespace
