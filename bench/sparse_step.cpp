// SPDX-License-Identifier: BSL-1.0
// One step of a net whose table is on servers, for tables of 10^4 to 10^7 rows, in turns. --help
// says more.
#include <sinter/base/hash.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/graph/initial_row.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/parameter_server/row_store.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/parameter_server/remote_tables.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>

#include <memory>
#include <random>

#include "measure.hpp"
#include "options.hpp"

using namespace sinter;

namespace {

constexpr const char* help =
    "sparse_step [--rounds 40] [--servers 2]\n"
    "Steps of 26 lookups an example, 128 examples, in a table of rows of 64 floats, with 10^4 to 10^7 rows, in one\n"
    "process: finding a batch's rows, reading them from the servers' stores, the step, Adam's update of the rows\n"
    "that it names. Each table is asked for the same number of unique rows, which lie all over it. Medians of\n"
    "processor time, in microseconds, and each over that of 10^4 rows; rows_...: of them without the net's own step.\n"
    "A line of JSON for each table.";

constexpr int columns = 26, width = 64, batch = 128, unique_rows = 10'000;
int rounds = 40, servers = 2;

template <int Rows>
class table {
    static constexpr program_options remote{.gradients = gradient_policy::reduced, .remote_tables = batch};
    static constexpr auto net = indices<columns> >> embedding<Rows, width> >> flatten >> dense<16> >> relu >> dense<1>;
    template <program_mode M>
    using program = compiler::compiled<compiler::request<std::remove_const_t<decltype(net)>, mse_loss, no_optimizer, M,
                                                         batch, cpu_device::target, remote>>;
    using P = program<program_mode::training>;
    using tables = sinter::strategy_parts::remote_tables<P>;

public:
    table() : updater_(sinter::strategy_parts::make_updater<P>(adam{})) {
        const parameter_servers::row_placement place{Rows, servers, parameter_servers::row_partition::mod};
        rows_ = std::make_unique<tables>(span<const parameter_servers::row_placement>{&place, 1});
        for (int s = 0; s < servers; ++s)
            stores_.emplace_back(parameter_servers::row_store_setup{
                width, updater_->slots(0), place.rows_of(s), {}, servers, [=](std::int64_t r, float* to) {
                    compiler::initial_row({init_kind::uniform, 0.05f}, 1, place.row(s, r), width, to);
                }});
        std::mt19937 r(1);
        for (auto& b : data_)
            for (std::int32_t& i : b.indices)
                i = static_cast<std::int32_t>(r() % unique_rows * (Rows / unique_rows));
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            const std::vector<float> x(v.remote ? 0 : static_cast<std::size_t>(v.floats), 0.01f);
            if (!v.remote) worker_.write(v.at, x.data(), v.floats);
        }
        moving_.resize(std::size_t{batch * columns * width + 16});
        keys_.resize(std::size_t{list_header + batch * columns});
        for (int i = 0; i < 400; ++i) step();   // every row is there, and in whatever caches it finds room
        times_.clear(), net_.clear();
    }
    void step() {
        auto& d = data_[step_ % data_.size()];
        const input_view in{nullptr, d.indices, columns};
        batch_view b;
        b.size = batch, b.y = d.y, b.inputs = {&in, 1};
        const double begin = bench::cpu_seconds();
        const batch_view whole = rows_->prepare(b);
        for (int s = 0; s < servers; ++s) {
            float* to = moving_.data();
            for (const std::int64_t k : rows_->wanted(0, s).keys) stores_[std::size_t(s)].read(k, to), to += width;
            rows_->place(0, s, moving_.data(), worker_.host(tables::table(0).at));
        }
        const double before = bench::cpu_seconds();
        worker_.template step<0>(whole, {nullptr, 1, step_});
        const double behind = bench::cpu_seconds();
        const compiler::gradient_bucket& k = P::v.buckets[tables::table(0).bucket];
        const row_list list{reinterpret_cast<std::int32_t*>(worker_.host(k.keys)), worker_.host(k.at), k.row_floats};
        float scalars[8] = {};
        adam{}.scalars(step_, scalars);
        for (int s = 0; s < servers; ++s) {
            parameter_servers::row_store& store = stores_[std::size_t(s)];
            const span<const std::int64_t> keys = rows_->collect(0, s, list, moving_.data());
            keys_[0] = static_cast<std::int32_t>(keys.size());
            for (std::size_t i = 0; i < keys.size(); ++i) keys_[list_header + i] = store.add(keys[i], step_);
            updater_->update_rows(0, store.values(), store.slot(0), store.stride(),
                                  {keys_.data(), moving_.data(), width}, scalars, 0);
        }
        times_.push_back(bench::cpu_seconds() - begin);
        net_.push_back(behind - before);
        ++step_;
    }
    static double median(std::vector<double> x) {
        std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
        return x[x.size() / 2];
    }
    double time() const { return median(times_); }
    double time_of_rows() const { return median(times_) - median(net_); }

private:
    struct alignas(64) columns_of_batch { std::int32_t indices[batch * columns]; float y[batch] = {}; };
    std::unique_ptr<parameter_servers::updater> updater_;
    std::unique_ptr<tables> rows_;
    std::vector<parameter_servers::row_store> stores_;
    std::vector<columns_of_batch> data_ = std::vector<columns_of_batch>(64);
    replica<model_programs<cpu_device, program<program_mode::evaluation>, program<program_mode::prediction>, P>>
        worker_{cpu_device::options{1}};
    std::vector<float> moving_;
    std::vector<std::int32_t> keys_;
    std::vector<double> times_, net_;
    std::int64_t step_ = 0;
};

int run() {
    table<10'000> a;
    table<100'000> b;
    table<1'000'000> c;
    table<10'000'000> d;
    const auto some = [](auto& t) {
        for (int i = 0; i < 20; ++i) t.step();
    };
    for (int r = 0; r < rounds; ++r) some(a), some(b), some(c), some(d);
    const auto print = [&](int n, const auto& t) {
        std::printf("{\"what\": \"sparse step\", \"table\": %d, \"step_us\": %.1f, \"step_ratio\": %.3f, "
                    "\"rows_us\": %.1f, \"rows_ratio\": %.3f}\n",
                    n, t.time() * 1e6, t.time() / a.time(), t.time_of_rows() * 1e6,
                    t.time_of_rows() / a.time_of_rows());
    };
    print(10'000, a), print(100'000, b), print(1'000'000, c), print(10'000'000, d);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return bench::with_options(argc, argv, help, [](const std::string& name, const std::string& value) {
        if (name == "--rounds") rounds = bench::number(name, value, 1, 100000);
        else if (name == "--servers") servers = bench::number(name, value, 1, 64);
        else return false;
        return true;
    }, run);
}
