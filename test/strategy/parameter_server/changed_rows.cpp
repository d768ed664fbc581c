// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <map>
#include <sinter/parameter_server/checkpoint/table_delta.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>

// Servers write which rows of their tables have changed: whoever reads all these files, in the
// order of their numbers, has the tables of the model, also where the chief has overwritten it
// meanwhile.
using namespace sinter;

namespace {

constexpr int batch = 8, width = 3, steps = 24, symbols = 50;
constexpr auto net = inputs(keys<width>, indices<width>) >> [](tensor k, tensor w) {
    return concat(flatten(hashed_embedding<5, hashed_options{.most_rows = 1000}>(k)),
                  flatten(embedding<symbols, 4>(w)));
} >> dense<1>;
struct examples {
    std::int64_t keys[steps * batch * width];
    std::int32_t words[steps * batch * width];
    float y[steps * batch];
    examples() {
        random_stream r(9);
        for (std::int64_t& k : keys) k = static_cast<std::int64_t>((r.word() % 300 - 150u) * 0x0123456789abcdefull);
        for (std::int32_t& w : words) w = static_cast<std::int32_t>(r.word() % symbols);
        for (float& f : y) f = r.uniform(-1, 1);
    }
};
const examples all;

template <class Trainer>
void train(Trainer& t, int first, int last) {
    for (int i = first; i < last; ++i) {
        const data::input_view in[] = {
            {nullptr, reinterpret_cast<const std::int32_t*>(all.keys + i * batch * width), 2 * width},
            {nullptr, all.words + i * batch * width, width}};
        t.step({.y = all.y + i * batch, .size = batch, .inputs = in});
    }
}
using copied_table = std::map<std::int64_t, std::vector<float>>;

/// One server's part of a table, as whoever has read all its files has it. `files`: how many there were.
void follow(const std::string& folder, int shard, int servers, std::size_t number, int row_floats, copied_table& to,
            int& files) {
    copied_table rows;
    std::int64_t had = 0;
    const std::string own = strategy_parts::changes_folder(folder, shard, servers);
    for (std::int64_t n = 1, last = strategy_parts::last_changes(own); n <= last; ++n) {
        const std::string file = strategy_parts::changes_file(own, n, number);
        if (::access(file.c_str(), F_OK) != 0) continue;   // nothing has changed
        ++files;
        const parameter_servers::delta_header h = parameter_servers::read_delta_header(file);
        BOOST_TEST((h.since == 0 || h.since >= had), file);
        if (h.since == 0) rows.clear();
        had = h.step;
        parameter_servers::read_delta(file, h.table, row_floats,
                            [&](std::int64_t key, const float* row) { rows[key].assign(row, row + row_floats); },
                            [&](std::int64_t key) { rows.erase(key); });
    }
    for (auto& [key, row] : rows) BOOST_TEST(to.emplace(key, std::move(row)).second);
}

} // namespace

BOOST_AUTO_TEST_CASE(whoever_follows_has_the_tables) {
    for (const int servers : {1, 3})
        for (const bool overwritten : {false, true}) {
            const temporary_folder folder;
            const std::string changes = folder / "changes", before = folder / "before.safetensors",
                file = folder / "end.safetensors";
            server_job j(1, servers);
            j.start_all([=](const cluster& c) -> std::string {
                trainer t{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>,
                          parameter_server<sync<0>>{c, {.changes = changes, .changes_every_steps = 3}}, {.threads = 1}};
                if (t.has_served()) return "served";
                train(t, 0, steps / 2);
                if (overwritten) {
                    save(t, before);
                    train(t, steps / 2, steps / 2 + 4);
                    load(t, before);
                }
                train(t, steps / 2, steps);
                save(t, file);
                return "trained";
            });
            BOOST_TEST_CONTEXT(servers << " servers, overwritten " << overwritten)
            BOOST_TEST(j.result(0) == "trained");
            for (int i = 1; i < j.size(); ++i) BOOST_TEST(j.result(i) == "served");
            copied_table hashed, known;
            int files = 0;
            for (int s = 0; s < servers; ++s)
                for (const std::size_t number : {std::size_t{0}, std::size_t{1}})
                    follow(changes, s, servers, number, number == 0 ? 5 : 4, number == 0 ? hashed : known, files);
            BOOST_TEST(files >= 2 * 2 * servers);
            const auto f = safetensors::read(file);
            const auto keys = f.at("hashed_embedding/table/keys").as<std::int64_t>();
            const auto rows = f.at("hashed_embedding/table").as<float>(), words = f.at("embedding/table").as<float>();
            BOOST_TEST(hashed.size() == keys.size());
            for (std::size_t i = 0; i < keys.size(); ++i)
                BOOST_TEST((hashed.at(keys[i]) ==
                            std::vector<float>(rows.begin() + static_cast<std::ptrdiff_t>(5 * i),
                                               rows.begin() + static_cast<std::ptrdiff_t>(5 * i + 5))));
            for (const std::int32_t w : all.words)
                BOOST_TEST((known.at(w) == std::vector<float>(words.begin() + 4 * w, words.begin() + 4 * w + 4)));
        }
}
