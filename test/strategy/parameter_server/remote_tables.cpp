// SPDX-License-Identifier: BSL-1.0
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/graph/initial_row.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/embedding_bag.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/parameter_server/row_store.hpp>
#include <sinter/strategy/parameter_server/remote_tables.hpp>
#include <sinter/strategy/parameter_server/shard_update.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/nce.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <random>

// A net whose tables are elsewhere computes, of the rows that a batch names, the very bits that it computes with whole
// tables: losses, outputs, gradients.
using namespace sinter;

namespace {

constexpr int batch = 24;
constexpr program_options remote{.gradients = gradient_policy::reduced, .bucket_bytes = 256, .remote_tables = batch};

template <class Net, class Loss, program_mode M>
using program = compiler::compiled<compiler::request<Net, Loss, no_optimizer, M, batch, cpu_device::target, remote>>;
template <class Net, class Loss>
using programs = model_programs<cpu_device, program<Net, Loss, program_mode::evaluation>,
                                program<Net, Loss, program_mode::prediction>,
                                program<Net, Loss, program_mode::training>>;

/// Integers and floats of one batch, where a batch's arrays must begin.
struct batch_of_columns {
    struct alignas(64) column { std::int32_t whole[batch * 8]; float floats[batch * 8]; };
    std::vector<column> columns;
    std::vector<input_view> inputs;
    alignas(64) std::int32_t labels[batch];
    alignas(64) float y[batch * 64];
    int size = batch;

    /// Inputs of `widths` integers below `below` each; small numbers come often.
    batch_of_columns(std::initializer_list<int> widths, std::initializer_list<int> below, unsigned seed, int examples)
        : columns(widths.size()), size(examples) {
        std::mt19937 r(seed);
        auto top = below.begin();
        for (auto w = widths.begin(); w != widths.end(); ++w, ++top) {
            column& c = columns[inputs.size()];
            for (std::int32_t& x : c.whole)
                x = static_cast<std::int32_t>(r() % 2 ? r() % 5 : r() % static_cast<unsigned>(*top));
            inputs.push_back({nullptr, c.whole, *w});
        }
        for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r() % 4);
        for (float& f : y) f = static_cast<float>(r() % 1000) / 500 - 1;
    }
    batch_view view() const {
        batch_view b;
        b.size = size, b.labels = labels, b.y = y, b.inputs = {inputs.data(), inputs.size()};
        return b;
    }
};

/// Several servers that have the tables of `one`.
template <class Tables, class One>
struct servers {
    const One& one;
    std::vector<parameter_servers::row_placement> place;
    servers(const One& o, int n, parameter_servers::row_partition how) : one(o) {
        for (int t = 0; t < Tables::count; ++t) place.push_back({Tables::table(t).rows, n, how});
    }
    template <class Replica>
    void pull(const Tables& tables, Replica& to) const {
        for (int t = 0; t < Tables::count; ++t) {
            const sinter::strategy_parts::remote_table& info = Tables::table(t);
            const std::vector<float> all = one.plain(One::parameter(info.parameter));
            for (int s = 0; s < place[std::size_t(t)].servers; ++s) {
                std::vector<float> rows;
                for (const std::int64_t local : tables.wanted(t, s).keys) {
                    const std::int64_t row = place[std::size_t(t)].row(s, local);
                    BOOST_TEST_REQUIRE(row < info.rows);
                    rows.insert(rows.end(), all.begin() + row * info.width, all.begin() + (row + 1) * info.width);
                }
                tables.place(t, s, rows.data(), to.host(info.at));
            }
        }
    }
    /// Tables that program Q reads whole.
    template <class Q, class Replica>
    void give_whole(Replica& to) const {
        for (int t = 0; t < Tables::count; ++t) {
            const int i = Tables::table(t).parameter;
            if (Q::v.parameters[i].remote) continue;
            const std::vector<float> all = one.plain(One::parameter(i));
            std::copy(all.begin(), all.end(), to.template whole_table<Q>(i));
        }
    }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

template <class Net, class Loss, class Optimizer>
void compare(Net, Loss, Optimizer o, const char* what, std::initializer_list<int> widths,
             std::initializer_list<int> below,
             int servers_ = 3, parameter_servers::row_partition how = parameter_servers::row_partition::mod) {
    BOOST_TEST_CONTEXT(what) {
        using P = programs<Net, Loss>;
        using T = typename P::template training<0>;
        using tables_type = sinter::strategy_parts::remote_tables<T>;
        trainer<Net, Loss, Optimizer, build_options{batch, {.store_gradients = true}}> one(o, {.threads = 1});
        replica<P> worker(cpu_device::options{1});
        servers<tables_type, decltype(one)> all(one, servers_, how);
        tables_type tables({all.place.data(), all.place.size()});
        const trainer_options& options = one.options();
        for (unsigned step = 0; step < 4; ++step) {
            const batch_of_columns data(widths, below, 7 + step, step == 2 ? 5 : batch);
            for (int i = 0; i < one.parameters(); ++i)
                if (const auto& v = T::v.parameters[i]; !v.remote) {
                    const auto packed = one.packed(one.parameter(i), one.plain(one.parameter(i)).data());
                    worker.write(v.at, packed.x.data(), v.floats);
                }
            const step_values now{nullptr, options.seed, one.steps()};
            const batch_view e = tables.template prepare<typename P::evaluation>(data.view());
            all.pull(tables, worker);
            all.template give_whole<typename P::evaluation>(worker);
            all.template give_whole<typename P::prediction>(worker);
            BOOST_TEST(worker.evaluate(e, now) == one.evaluate(data.view()));
            worker.predict(tables.template prepare<typename P::prediction>(data.view()), now);
            const auto y = one.predict(data.view()), z = worker.output(0);
            BOOST_TEST(same_bits({y.begin(), y.end()}, {z.begin(), z.end()}));

            const batch_view b = tables.prepare(data.view(), now);
            all.pull(tables, worker);
            const float loss = worker.template step<0>(b, now).loss;
            BOOST_TEST(loss == one.step(data.view()));
            for (int i = 0; i < one.parameters(); ++i) {
                const auto& v = T::v.parameters[i];
                const std::vector<float> truth = one.gradient(one.parameter(i));
                if (!v.remote) {
                    std::vector<float> d(static_cast<std::size_t>(v.floats));
                    worker.read(v.gradient, d.data(), v.floats);
                    BOOST_TEST(same_bits(runtime::to_plain(v, d.data(), cpu_device::panel_width,
                                                           cpu_device::target.lanes), truth), v.name);
                    continue;
                }
                const int t = compiler::remote_tables_of<T>.of_parameter[i];
                const sinter::strategy_parts::remote_table& info = tables_type::table(t);
                std::vector<float> d(truth.size());
                for (int s = 0; s < servers_; ++s) {
                    std::vector<float> rows(tables.wanted(t, s).keys.size() * std::size_t(info.width));
                    span<const std::int64_t> keys;
                    if (const auto& k = T::v.buckets[info.bucket]; k.is_list())
                        keys = tables.collect(t, s, row_list{reinterpret_cast<std::int32_t*>(worker.host(k.keys)),
                                                             worker.host(k.at), k.row_floats}, rows.data());
                    else keys = tables.collect(t, s, tables.as_list(t, worker.host(info.gradient)), rows.data());
                    for (std::size_t k = 0; k < keys.size(); ++k)
                        std::copy_n(rows.begin() + std::ptrdiff_t(k) * info.width, info.width,
                                    d.begin() + all.place[std::size_t(t)].row(s, keys[k]) * info.width);
                }
                BOOST_TEST(same_bits(d, truth), v.name);
            }
        }
    }
}

/// Servers' stores update the rows that a worker's gradients name: weights and slots end as those of one device, whose
/// updates of tables are lazy.
template <class Net, class Loss, class Optimizer>
void train(Net, Loss, Optimizer o, const char* what, std::initializer_list<int> widths,
           std::initializer_list<int> below) {
    BOOST_TEST_CONTEXT(what) {
        using P = programs<Net, Loss>;
        using T = typename P::template training<0>;
        using tables_type = sinter::strategy_parts::remote_tables<T>;
        constexpr int n = 3;
        trainer<Net, Loss, Optimizer, build_options{batch}> one(o, {.threads = 1});
        replica<P> worker(cpu_device::options{1});
        const auto updater = sinter::strategy_parts::make_updater<T>(o);
        std::vector<parameter_servers::row_placement> place;
        std::vector<std::vector<parameter_servers::row_store>> stores(std::size_t{tables_type::count});
        for (int t = 0; t < tables_type::count; ++t) {
            const sinter::strategy_parts::remote_table& info = tables_type::table(t);
            const variable_info& v = T::v.parameters[info.parameter];
            place.push_back({info.rows, n, parameter_servers::row_partition::mod});
            const std::uint64_t stream =
                base::stream(one.options().seed, base::fnv1a(one.path(one.parameter(info.parameter))));
            for (int s = 0; s < n; ++s)
                stores[std::size_t(t)].emplace_back(parameter_servers::row_store_setup{
                    info.width, updater->slots(v.group), place.back().rows_of(s), {}, n,
                    [&v, stream, s, p = place.back(), w = info.width](std::int64_t r, float* to) {
                        compiler::initial_row(v.init, stream, p.row(s, r), w, to);
                    },
                    [&, w = info.width](int k, const float* row, float* to) {
                        updater->first_slot(v.group, k, to, row, w);
                    }});
        }
        tables_type tables({place.data(), place.size()});
        for (unsigned step = 0; step < 12; ++step) {
            const batch_of_columns data(widths, below, 90 + step, batch);
            for (int i = 0; i < one.parameters(); ++i)
                if (const auto& v = T::v.parameters[i]; !v.remote) {
                    const auto packed = one.packed(one.parameter(i), one.plain(one.parameter(i)).data());
                    worker.write(v.at, packed.x.data(), v.floats);
                }
            const step_values now{nullptr, one.options().seed, one.steps()};
            const batch_view b = tables.prepare(data.view(), now);
            std::vector<float> rows(std::size_t(batch * 64 * 32));
            for (int t = 0; t < tables_type::count; ++t)
                for (int s = 0; s < n; ++s) {
                    float* to = rows.data();
                    for (const std::int64_t k : tables.wanted(t, s).keys)
                        stores[std::size_t(t)][std::size_t(s)].read(k, to), to += tables_type::table(t).width;
                    tables.place(t, s, rows.data(), worker.host(tables_type::table(t).at));
                }
            BOOST_TEST(worker.template step<0>(b, now).loss == one.step(data.view()));
            float scalars[16] = {};
            Optimizer(o).scalars(step, scalars);
            for (int t = 0; t < tables_type::count; ++t)
                for (int s = 0; s < n; ++s) {
                    const sinter::strategy_parts::remote_table& info = tables_type::table(t);
                    parameter_servers::row_store& store = stores[std::size_t(t)][std::size_t(s)];
                    span<const std::int64_t> keys;
                    if (const auto& k = T::v.buckets[info.bucket]; k.is_list())
                        keys = tables.collect(t, s, row_list{reinterpret_cast<std::int32_t*>(worker.host(k.keys)),
                                                             worker.host(k.at), k.row_floats}, rows.data());
                    else keys = tables.collect(t, s, tables.as_list(t, worker.host(info.gradient)), rows.data());
                    std::fill_n(rows.begin() + std::ptrdiff_t(keys.size()) * info.width, 16, 0.f);
                    std::vector<std::int32_t> list(std::size_t(list_header) + keys.size());
                    list[0] = static_cast<std::int32_t>(keys.size());
                    for (std::size_t i = 0; i < keys.size(); ++i)
                        list[std::size_t(list_header) + i] = store.add(keys[i], step);
                    updater->update_rows(T::v.parameters[info.parameter].group, store.values(), store.slot(0),
                                         store.stride(), {list.data(), rows.data(), info.width}, scalars, 0);
                }
        }
        for (int t = 0; t < tables_type::count; ++t) {
            const sinter::strategy_parts::remote_table& info = tables_type::table(t);
            const variable_info& v = one.parameter(info.parameter);
            for (int k = -1; k < updater->slots(v.group); ++k) {
                const std::vector<float> truth = k < 0 ? one.plain(v) : one.plain_slot(v, k);
                std::vector<float> all(truth.size());
                for (std::int64_t r = 0; r < info.rows; ++r) {
                    const parameter_servers::row_store& store =
                        stores[std::size_t(t)][std::size_t(place[std::size_t(t)].server(r))];
                    float* const to = all.data() + r * info.width;
                    if (k < 0) store.read(place[std::size_t(t)].local(r), to);
                    else store.read_slot(place[std::size_t(t)].local(r), k, to);
                }
                BOOST_TEST(same_bits(all, truth), one.path(v) << " slot " << k);
            }
            std::int64_t made = 0;
            for (const auto& store : stores[std::size_t(t)]) made += store.size();
            BOOST_TEST(made > 5);
            if (info.rows > 100) BOOST_TEST(made < info.rows);   // the others are as they began, and take no memory
        }
    }
}

constexpr auto two_lookups = inputs(indices<3>, indices<2>) >> [](tensor a, tensor b) {
    const tensor table = parameter(a, "table", extents(90, 5), normal_of(0.5f));
    const tensor x = ops::gather_rows(table, a), y = ops::gather_rows(table, b) * 2.f;
    return dense<3>(ops::concat(ops::reshape(x, extents(15)), ops::reshape(y, extents(10)), -1));
};
constexpr auto reshaped = indices<6> >> reshape<2, 3> >> embedding<70, 4> >> flatten >> dense<3>;

} // namespace

BOOST_AUTO_TEST_CASE(bits_are_those_of_whole_tables) {
    compare(indices<3> >> embedding<1000, 8> >> flatten >> dense<4>, softmax_cross_entropy, adam{}, "embedding", {3},
            {1000});
    compare(indices<3> >> embedding<1000, 8> >> flatten >> dense<16>, mse, adam{}, "unique rows are multiplied once",
            {3}, {1000}, 2, parameter_servers::row_partition::div);
    compare(indices<4> >> embedding_bag<500, 6, combine::mean, 0> >> dense<4>, softmax_cross_entropy, adam{},
            "bag with padding", {4}, {500});
    compare(inputs(indices<1>, indices<1>) >> embedding_columns<4, 30, 2000> >> flatten >> dense<4>,
            softmax_cross_entropy, sgd{}, "columns", {1, 1}, {30, 2000}, 5);
    compare(two_lookups, mse, adam{}, "a table that is looked up twice", {3, 2}, {90, 90});
    compare(reshaped, mse, adam{}, "indices that are reshaped", {6}, {70}, 1);
    compare(indices<2> >> embedding<300, 6> >> flatten >> candidate_scores<400>, sampled_softmax<400, 9>, sgd{},
            "sampled softmax", {2}, {300});
    compare(indices<2> >> embedding<300, 6> >> flatten >> candidate_scores<400>, nce<400, 20, true, sampling::unique>,
            sgd{}, "different candidates", {2}, {300}, 2, parameter_servers::row_partition::div);
}

BOOST_AUTO_TEST_CASE(tables_end_as_those_of_one_device) {
    train(indices<3> >> embedding<1000, 8> >> flatten >> dense<16>, mse, adam{}, "embedding", {3}, {1000});
    train(indices<4> >> embedding_bag<900, 5, combine::sqrtn> >> dense<4>, softmax_cross_entropy, momentum{}, "bag",
          {4}, {900});
    train(two_lookups, mse, adam{}, "a table that is looked up twice", {3, 2}, {90, 90});
    train(indices<2> >> embedding<900, 6> >> flatten >> candidate_scores<2000>, sampled_softmax<2000, 9>, sgd{},
          "sampled softmax", {2}, {900});
}

BOOST_AUTO_TEST_CASE(rows_begin_as_those_of_a_whole_table) {
    for (const initializer init :
         {uniform_of(-0.05f, 0.05f), normal_of(0.3f, 1.f), constant_of(0.25f), identity_of(2.f)}) {
        for (const int width : {1, 5, 8}) {
            compiler::variable_info v;
            v.s = extents(40, width);
            v.init = init;
            const std::vector<float> whole = sinter::detail::initial_values(v, "embedding/table", 17);
            std::vector<float> rows(whole.size());
            for (int r = 39; r >= 0; --r)
                compiler::initial_row(init, base::stream(17, base::fnv1a("embedding/table")), r, width,
                                      rows.data() + r * width);
            BOOST_TEST(same_bits(rows, whole));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_told) {
    using T = program<decltype(indices<3> >> embedding<1000, 8> >> flatten >> dense<4>),
                      decltype(softmax_cross_entropy), program_mode::training>;
    const parameter_servers::row_placement place{1000, 2, parameter_servers::row_partition::mod};
    sinter::strategy_parts::remote_tables<T> tables({&place, 1});
    batch_of_columns data({3}, {1000}, 1, batch);
    data.columns[0].whole[4] = 1000;
    BOOST_CHECK_THROW(tables.prepare(data.view()), data_error);
    data.columns[0].whole[4] = -1;
    BOOST_CHECK_THROW(tables.prepare(data.view()), data_error);
    data.columns[0].whole[4] = 1;
    data.size = batch + 1;
    BOOST_CHECK_THROW(tables.prepare(data.view()), data_error);
    data.size = 1;
    data.inputs.clear();
    BOOST_CHECK_THROW(tables.prepare(data.view()), data_error);
    BOOST_CHECK_THROW((sinter::strategy_parts::remote_tables<T>({&place, 0})), option_error);
}

BOOST_AUTO_TEST_CASE(lookups_of_tensorflows_test) {
    // sharded_variable_test.py, test_embedding_lookup: a table of five rows on three servers, [2,
    // 2, 1]; bags by their mean
    constexpr auto net = inputs(indices<2>, features<2>) >> embedding_bag<5, 2, combine::mean>;
    using Net = std::remove_const_t<decltype(net)>;
    using T = program<Net, mse_loss, program_mode::training>;
    using P = programs<Net, mse_loss>;
    const parameter_servers::row_placement place{5, 3, parameter_servers::row_partition::div};
    BOOST_TEST((place.rows_of(0) == 2 && place.rows_of(1) == 2 && place.rows_of(2) == 1));
    sinter::strategy_parts::remote_tables<T> tables({&place, 1});
    replica<P> worker(cpu_device::options{1});
    const auto look_up = [&](std::vector<std::int32_t> ids, std::vector<float> weights) {
        struct alignas(64) columns { std::int32_t ids[64]; float weights[64]; };
        const auto data = std::make_unique<columns>();
        std::copy(ids.begin(), ids.end(), data->ids);
        std::copy(weights.begin(), weights.end(), data->weights);
        const input_view in[] = {{nullptr, data->ids, 2}, {data->weights, nullptr, 2}};
        batch_view b;
        b.size = static_cast<int>(ids.size() / 2), b.inputs = {in, 2};
        const batch_view whole = tables.template prepare<typename P::prediction>(b);
        for (int s = 0; s < 3; ++s) {
            std::vector<float> rows;
            for (const std::int64_t k : tables.wanted(0, s).keys) {
                const float first = static_cast<float>(2 * place.row(s, k) + 1);   // row r: [2 r + 1, 2 r + 2]
                rows.insert(rows.end(), {first, first + 1});
            }
            tables.place(0, s, rows.data(), worker.host(tables.table(0).at));
        }
        worker.predict(whole, {});
        const span<const float> y = worker.output(0);
        return std::vector<float>(y.begin(), y.end());
    };
    BOOST_TEST(look_up({0, 0, 3, 0, 4, 0}, {1, 0, 1, 0, 1, 0}) == (std::vector<float>{1, 2, 7, 8, 9, 10}),
               boost::test_tools::per_element());
    BOOST_TEST(tables.wanted(0, 0).keys.size() == 1u);
    BOOST_TEST(tables.wanted(0, 1).keys[0] == 1);   // row 3
    BOOST_TEST(tables.wanted(0, 2).keys[0] == 0);   // row 4
    BOOST_TEST(look_up({0, 3, 4, 0, 1, 0}, {1, 1, 1, 0, 1, 0}) == (std::vector<float>{4, 5, 9, 10, 3, 4}),
               boost::test_tools::per_element());
}
