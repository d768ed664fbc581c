// SPDX-License-Identifier: BSL-1.0
// shows servers: rows that the chief cannot put are an error of all workers
// needs: distributed
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>
#include <sinter/base/decimal.hpp>
#include <sinter/io/safetensors/write.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include "support/peak_memory.hpp"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <cstdlib>

// Tables of 64-bit keys in files: all rows with their keys, slots and steps, in the order of their keys, and back onto
// other servers. A job that is saved and goes on elsewhere ends in the very bytes of one that was not disturbed.
using namespace sinter;

namespace {

constexpr int batch = 8, width = 3, steps = 16;

struct examples {
    std::int64_t keys[steps * batch * width];
    float y[steps * batch];
    examples() {
        random_stream r(8);
        for (std::int64_t& k : keys) k = static_cast<std::int64_t>((r.word() % 300 - 150u) * 0x0123456789abcdefull);
        keys[0] = INT64_MIN, keys[1] = INT64_MAX, keys[2] = 0, keys[3] = -1;
        for (float& f : y) f = r.uniform(-1, 1);
    }
};
const examples all;

constexpr auto net = keys<width> >> hashed_embedding<5, hashed_options{.most_rows = 1000}> >> flatten >> dense<1>;
using servers_of_test = parameter_server<sync<0>>;

template <class Trainer>
void train(Trainer& t, int first, int last) {
    for (int i = first; i < last; ++i) {
        const data::input_view in{nullptr, reinterpret_cast<const std::int32_t*>(all.keys + i * batch * width),
                                  2 * width};
        t.step({.y = all.y + i * batch, .size = batch, .inputs = {&in, 1}});
    }
}
template <class Trainer>
float score(Trainer& t) {
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
        const data::input_view in{nullptr, reinterpret_cast<const std::int32_t*>(all.keys + i * batch * width),
                                  2 * width};
        sum += static_cast<double>(t.evaluate({.y = all.y + i * batch, .size = batch, .inputs = {&in, 1}}));
    }
    return static_cast<float>(sum);
}
/// Runs f(trainer) in the only worker of a job of so many servers.
template <auto Mode = sync<0>, class F>
std::string job(int servers, F f, int workers = 1) {
    server_job j(workers, servers);
    j.start_all([=](const cluster& c) -> std::string {
        trainer t{net, mse, adam{.learning_rate = 0.01f}, max_batch<batch>, canonical<4>(parameter_server<Mode>{c}),
                  {.threads = 1}};
        if (t.has_served()) return "served";
        return f(t);
    });
    const std::string result = j.result(0);
    for (int i = 1; i < workers; ++i) BOOST_TEST(j.result(i) == result);
    for (int i = workers; i < j.size(); ++i) BOOST_TEST(j.result(i) == "served");
    return result;
}
std::string hash_of_file(const std::string& path) {
    const std::vector<std::byte> bytes = io::read_whole_file(path);
    return hash_text({bytes.data(), bytes.size()});
}

/// Names of tensors that are not the same bytes in both files; "none".
std::string differences(const std::string& a, const std::string& b) {
    const auto x = safetensors::read(a), y = safetensors::read(b);
    std::string names = x.tensors.size() == y.tensors.size() ? "" : "other tensors ";
    for (const auto& [name, t] : x.tensors) {
        const auto found = y.tensors.find(name);
        const bool same = found != y.tensors.end() && found->second.data.size() == t.data.size() &&
                          std::memcmp(found->second.data.data(), t.data.data(), t.data.size()) == 0;
        if (!same) names += name + " ";
    }
    return names.empty() && x.metadata == y.metadata ? "none" : names;
}

BOOST_AUTO_TEST_CASE(a_file_has_all_rows_in_the_order_of_their_keys) {
    const temporary_folder folder;
    const std::string one = folder / "one.safetensors", three = folder / "three.safetensors";
    const auto saves = [](const std::string& to) {
        return [=](auto& t) {
            train(t, 0, steps);
            t.end_training();
            save(t, to);
            return std::string("saved");
        };
    };
    BOOST_TEST(job(1, saves(one)) == "saved");
    BOOST_TEST(job(3, saves(three)) == "saved");
    BOOST_TEST(hash_of_file(one) == hash_of_file(three));
    const auto f = safetensors::read(one);
    std::vector<std::int64_t> expected(std::begin(all.keys), std::end(all.keys));
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    const auto rows = static_cast<std::int64_t>(expected.size());
    BOOST_TEST(f.at("hashed_embedding/table/keys").as<std::int64_t>() == expected, boost::test_tools::per_element());
    for (const char* name :
         {"hashed_embedding/table", "optimizer/0/hashed_embedding/table", "optimizer/1/hashed_embedding/table"})
        BOOST_TEST((f.at(name).shape == std::vector<std::int64_t>{rows, 5}), name);
    for (const std::int64_t step : f.at("optimizer/updated/hashed_embedding/table").as<std::int64_t>())
        BOOST_TEST((step >= 0 && step < steps));
}
/// Where the chief fails on the way all workers have an error: nobody waits, and nobody goes on with rows of before.
BOOST_AUTO_TEST_CASE(rows_that_the_chief_cannot_put_are_an_error_of_all) {
    const auto puts = [](auto& t) {
        train(t, 0, 2);
        const auto put = [&](std::size_t fails_at) {
            const bool chief = t.session().member().chief();
            try {
                t.session().tables()->put_rows(t.parameter(0), 0, 3,
                                               [&](std::size_t i, std::int64_t& key, std::int64_t& step, float* row) {
                                                   if (i == fails_at) throw io_error("the file is gone", "a test");
                                                   key = static_cast<std::int64_t>(i), step = 0;
                                                   std::fill_n(row, 5, 1.f);
                                               });
                return std::string("put");
            } catch (const io_error& e) {
                const std::string_view own = chief ? "the file is gone" : "the chief could not put a table's rows";
                return std::string(std::string_view(e.what()).find(own) != own.npos ? "told" : e.what());
            }
        };
        const std::string said = to_text({put(1), " ", put(9)});
        train(t, 2, 4);
        t.end_training();
        return to_text({said, " ", t.steps()});
    };
    BOOST_TEST(job(2, puts, 2) == "told put 4");
}
/// Onto another number of servers, before training and within it.
BOOST_AUTO_TEST_CASE(a_job_goes_on_from_its_file_on_other_servers) {
    const temporary_folder folder;
    const std::string half = folder / "half.safetensors", undisturbed = folder / "all.safetensors",
        resumed = folder / "resumed.safetensors";
    BOOST_TEST(job(2, [=](auto& t) {
        train(t, 0, steps / 2);
        save(t, half);   // the job goes on
        train(t, steps / 2, steps);
        save(t, undisturbed);
        return std::string("saved");
    }) == "saved");
    for (const int servers : {1, 3}) {
        BOOST_TEST(job(servers, [=](auto& t) {
            load(t, half);
            train(t, steps / 2, steps);
            save(t, resumed);
            return std::string("resumed");
        }) == "resumed");
        BOOST_TEST(differences(resumed, undisturbed) == "none", servers << " servers");
    }
    BOOST_TEST(job(2, [=](auto& t) {
        train(t, 5, 9);   // rows that the file does not have go
        load(t, half);
        train(t, steps / 2, steps);
        save(t, resumed);
        return std::string("went back");
    }) == "went back");
    BOOST_TEST(differences(resumed, undisturbed) == "none");
}
/// Numbers of another type are refused on all workers, before the chief looks at any.
BOOST_AUTO_TEST_CASE(keys_of_another_type_change_nothing) {
    const temporary_folder folder;
    const std::string file = folder / "a.safetensors", bad = folder / "b.safetensors";
    for (const char* const name : {"hashed_embedding/table/keys", "optimizer/updated/hashed_embedding/table"})
        BOOST_TEST(job(2, [=](auto& t) {
            train(t, 0, 3);
            save(t, file);
            if (t.session().member().chief()) {
                const auto f = safetensors::read(file);
                const std::vector<std::int32_t> small(f.at(name).data.size() / 8);
                std::vector<safetensors::entry> entries;
                for (const auto& [n, x] : f.tensors)
                    if (n == name) entries.push_back({n, safetensors::dtype::i32, x.shape, small.data()});
                    else entries.push_back({n, x.type, x.shape, x.data.data()});
                safetensors::write(bad, entries, f.metadata);
            }
            double nothing = 0;
            t.session().reduce({&nothing, 1});
            std::string said;
            try { load(t, bad); } catch (const error& e) { said = e.what(); }
            t.end_training();
            const char* const expected = t.session().member().chief() ? name : "the chief could not read";
            return std::string(said.find(expected) != said.npos ? "refused" : "not: " + said);
        }, 2) == "refused");
}
/// Also where it trains nothing: before its first step, and in memory. What it saves then is what it loaded.
BOOST_AUTO_TEST_CASE(what_was_loaded_is_there_before_the_first_step) {
    const temporary_folder folder;
    const std::string file = folder / "a.safetensors", again = folder / "b.safetensors",
        weights = folder / "w.safetensors";
    const std::string said = job(2, [=](auto& t) {
        train(t, 0, steps);
        t.end_training();
        save(t, file);
        save(t, weights, saved::weights);
        return base::general_text(static_cast<double>(score(t)), 9);
    });
    BOOST_TEST(job(1, [=](auto& t) {
        load(t, file);
        save(t, again);
        return base::general_text(static_cast<double>(score(t)), 9);
    }) == said);
    BOOST_TEST(differences(file, again) == "none");
    BOOST_TEST(job(3, [=](auto& t) {
        load(t, weights);
        const std::string before = base::general_text(static_cast<double>(score(t)), 9);
        t.reset();
        const bool other = base::general_text(static_cast<double>(score(t)), 9) != before;
        train(t, 0, 1);
        load(t, weights, saved::weights);
        return base::general_text(static_cast<double>(score(t)), 9) == before && other ? before : "other values";
    }) == said);
    const auto f = safetensors::read(weights);
    BOOST_TEST(f.tensors.size() == 4u);   // values and keys, and those of dense
}
BOOST_AUTO_TEST_CASE(workers_that_share_batches_save_together) {
    const temporary_folder folder;
    const std::string one = folder / "one.safetensors", two = folder / "two.safetensors";
    const auto saves = [](const std::string& to) {
        return [=](auto& t) {
            train(t, 0, steps / 2);
            save(t, to);
            load(t, to);
            train(t, steps / 2, steps);
            save(t, to);
            return std::string("saved");
        };
    };
    BOOST_TEST(job(2, saves(one)) == "saved");
    BOOST_TEST(job(2, saves(two), 2) == "saved");
    BOOST_TEST(differences(one, two) == "none");
}
BOOST_AUTO_TEST_CASE(files_that_do_not_fit_change_nothing) {
    const temporary_folder folder;
    const std::string file = folder / "a.safetensors", bad = folder / "b.safetensors", after = folder / "c.safetensors";
    BOOST_TEST(job(1, [=](auto& t) {
        train(t, 0, 3);
        save(t, file);
        const auto f = safetensors::read(file);
        const auto written = [&](const char* name, auto change) {
            std::vector<safetensors::entry> entries;
            std::vector<std::int64_t> keys = f.at(name).template as<std::int64_t>();
            change(keys);
            for (const auto& [n, x] : f.tensors)
                entries.push_back({n, x.type, x.shape,
                                   n == name ? static_cast<const void*>(keys.data()) : x.data.data()});
            safetensors::write(bad, entries, f.metadata);
        };
        std::string said;
        written("hashed_embedding/table/keys", [](auto& k) { k[1] = k[0]; });
        try { load(t, bad); } catch (const format_error& e) { said += e.what(); }
        written("optimizer/updated/hashed_embedding/table", [](auto& k) { k[2] = -1; });
        try { load(t, bad); } catch (const format_error& e) { said += e.what(); }
        save(t, after);
        const bool named = said.find("a key twice") != said.npos && said.find("number of steps") != said.npos;
        return std::string(named ? "refused" : "not refused: ") + (named ? "" : said);
    }) == "refused");
    BOOST_TEST(differences(file, after) == "none");
}

/// A worker holds neither the table nor its file when it loads, before its first step and within training.
constexpr int wide = 64, many = 60'000;   // rows: with Adam's slots 46 MB
constexpr auto large = keys<width> >> hashed_embedding<wide, hashed_options{.most_rows = 2 * many}> >> flatten
    >> dense<1>;
constexpr int large_batch = 500;
std::string loads_large(const cluster& c, const std::string& file, const std::string& again) {
    trainer t{large, mse, adam{.learning_rate = 0.01f}, max_batch<large_batch>, parameter_server<sync<0>>{c},
              {.threads = 1}};
    if (t.has_served()) return "served";
    std::vector<std::int64_t> named(std::size_t{large_batch} * width);
    const std::vector<float> y(large_batch, 0.5f);
    const auto steps_of = [&](int first, int last) {
        for (int s = first; s < last; ++s) {
            for (std::size_t i = 0; i < named.size(); ++i)
                named[i] = (std::int64_t{s} * std::ssize(named) + static_cast<std::int64_t>(i)) * 0x0123456789ab;
            const data::input_view in{nullptr, reinterpret_cast<const std::int32_t*>(named.data()), 2 * width};
            t.step({.y = y.data(), .size = large_batch, .inputs = {&in, 1}});
        }
    };
    if (again.empty()) {
        steps_of(0, many / (large_batch * width));
        save(t, file);
        return "0";
    }
    const double before = test::peak_megabytes(true);
    load(t, file);   // before the first step
    steps_of(1000, 1001);
    load(t, file);   // and within training
    const double most = test::peak_megabytes() - before;
    save(t, again);
    return to_text({static_cast<std::int64_t>(most)});
}
BOOST_AUTO_TEST_CASE(a_worker_does_not_hold_the_file_that_it_loads) {
    const temporary_folder folder;
    const std::string file = folder / "large.safetensors", again = folder / "again.safetensors";
    const auto run = [&](int workers, const std::string& to) {
        server_job j(workers, 2);
        j.start_all([&](const cluster& c) { return loads_large(c, file, to); });
        for (int i = 0; i < workers; ++i) {
            const std::string said = j.result(i, 60);
            std::printf("worker %d of %d: %s MB more\n", i, workers, said.c_str());
            BOOST_TEST_REQUIRE((!said.empty() && said.find_first_not_of("-0123456789") == said.npos), said);
            // messages to servers, whatever the file
            if (!test::is_sanitized) BOOST_TEST(std::atoi(said.c_str()) < 30);
        }
    };
    run(1, "");
    BOOST_TEST(std::filesystem::file_size(file) > 46'000'000u);
    for (const int workers : {1, 2}) {
        run(workers, again);
        BOOST_TEST(differences(file, again) == "none");
    }
}

}   // namespace
