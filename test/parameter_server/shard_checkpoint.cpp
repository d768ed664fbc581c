// SPDX-License-Identifier: BSL-1.0
// shows servers: servers' checkpoints: SIGKILL at 200 points, damage, halves of two runs, other numbers of servers
// waits: for random moments of kills, and for the disk
// Checkpoints of servers: onto as many and onto other numbers; damaged and half written ones; who may write; kills.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <sinter/parameter_server/shard_checkpoint.hpp>
#include <sys/wait.h>
#include <thread>

#include "io/temporary_folder.hpp"
#include "net/processes.hpp"

using namespace sinter;
using namespace sinter::parameter_servers;
namespace fs = std::filesystem;

namespace {

struct folder {
    temporary_folder outer;
    std::string path = outer / "servers";
};

/// A model's parameters, its tables, and what each number must be.
const std::vector<block> blocks{{0, 0, 6400, 0, -1, 0}, {6400, 6400, 1600, 1, 0, 0}, {8000, 8000, 3200, 0, -1, 1},
                                {11200, 0, 800, -1, -1, -1}};
constexpr std::int64_t rows_div = 1001, rows_mod = 77;
constexpr int width_div = 5, width_mod = 3;
float value_of(std::int64_t place, int array, std::int64_t step) {
    return static_cast<float>(place * 4 + array) + static_cast<float>(step) * 1e-2f;
}

/// One server's memory, and its files.
struct member {
    dense_placement placed;
    int index, servers;
    shard_layout layout;
    std::vector<row_placement> places;
    std::vector<std::vector<float>> arrays;   // values, two slots
    std::vector<float> states;
    std::vector<std::vector<std::vector<float>>> tables;   // values, two slots, of each
    std::vector<std::int64_t> hashed_keys, hashed_steps;
    std::int64_t clock = -1, version = 0;     // of what is saved
    std::unique_ptr<shard_files> files;

    member(const std::string& where, int k, int n, std::uint64_t program = 17, int keep = 2)
        : placed(place(blocks, n)), index(k), servers(n),
          places{{rows_div, n, row_partition::div}, {rows_mod, n, row_partition::mod}, {0, n}} {
        layout.floats = placed.floats[at(k)];
        layout.runs = placed.runs[at(k)];
        layout.states = k == 0 ? 40 : 0;
        layout.tables = {{"users", places[0].rows_of(k), width_div, 0}, {"items", places[1].rows_of(k), width_mod, 0},
                         {"words", -1, 2, 0}};
        arrays.assign(3, std::vector<float>(at(layout.floats), -1.f));
        states.assign(at(layout.states), -1.f);
        for (int t = 0; t < 2; ++t)
            tables.push_back(std::vector<std::vector<float>>(
                3, std::vector<float>(at(layout.tables[at(t)].rows * layout.tables[at(t)].row_floats), -1.f)));
        tables.emplace_back(3);
        files = checkpoints_of({where, k, n, program, placed.pieces[at(k)], places, keep});
    }
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    shard_view view(std::int64_t step) {
        shard_view v;
        v.server = index;
        v.servers = servers;
        v.global_step = step;
        v.clock = clock;
        v.version = version;
        v.layout = &layout;
        v.values = arrays[0].data();
        v.slots = {arrays[1].data(), arrays[2].data()};
        v.states = states.data();
        for (std::size_t t = 0; t < 3; ++t) {
            table_view of{t < 2 ? layout.tables[t].rows : static_cast<std::int64_t>(hashed_keys.size()), {}, {},
                          tables[t][0].data(), {}};
            of.slots = {tables[t][1].data(), tables[t][2].data()};
            if (t == 2) of.keys = hashed_keys, of.steps = hashed_steps;
            v.tables.push_back(std::move(of));
        }
        v.log = to_text({"log of ", index, " at ", step});
        return v;
    }
    /// f(float, what it must be) of everything.
    template <class F>
    void each(std::int64_t step, F f) {
        for (int a = 0; a < 3; ++a)
            for (const piece& p : placed.pieces[at(index)])
                for (std::int64_t i = 0; i < p.floats; ++i)
                    f(arrays[at(a)][at(p.first + i)], value_of(p.parameter + i, a, step));
        for (std::size_t i = 0; i < states.size(); ++i) f(states[i], value_of(static_cast<std::int64_t>(i), 3, step));
        for (std::size_t t = 0; t < 2; ++t)
            for (int a = 0; a < 3; ++a)
                for (std::int64_t r = 0; r < layout.tables[t].rows; ++r)
                    for (std::int64_t j = 0; j < layout.tables[t].row_floats; ++j)
                        f(tables[t][at(a)][at(r * layout.tables[t].row_floats + j)],
                          value_of(20000 + 10000 * static_cast<std::int64_t>(t) + places[t].row(index, r) * 8 + j, a,
                                   step));
    }
    void fill(std::int64_t step) {
        each(step, [](float& x, float is) { x = is; });
        hashed_keys.clear();
        hashed_steps.clear();
        for (std::int64_t i = 0; i < 100; ++i)
            if (const std::int64_t key = i * 7919 * 1000003 - 5; server_of_key(key, servers) == index)
                hashed_keys.push_back(key);
        for (std::size_t a = 0; a < 3; ++a) {
            tables[2][a].clear();
            for (const std::int64_t key : hashed_keys)
                for (int j = 0; j < 2; ++j) tables[2][a].push_back(value_of(key % 1000 + j, static_cast<int>(a), step));
        }
        for (const std::int64_t key : hashed_keys) hashed_steps.push_back(key % 10 + 10 + step);
    }
    void save(std::int64_t step, const std::string& where = {}) {
        fill(step);
        files->save(view(step), where);
    }
    /// The step that was loaded, -1: none; every number is that step's.
    std::int64_t load() {
        shard_view v = view(-1);
        hashed_keys.clear();
        hashed_steps.clear();
        for (auto& a : tables[2]) a.clear();
        v.restore_row = [&](std::size_t t, std::int64_t key, std::int64_t step, const float* row,
                            const float* const* slots) {
            const std::int64_t w = layout.tables[t].row_floats;
            for (std::size_t a = 0; a < 3; ++a) {
                const float* const from = a ? slots[a - 1] : row;
                if (t < 2) std::copy_n(from, w, tables[t][a].data() + key * w);
                else tables[2][a].insert(tables[2][a].end(), from, from + w);
            }
            if (t == 2) hashed_keys.push_back(key), hashed_steps.push_back(step);
        };
        if (!files->load(v)) return -1;
        log = v.log;
        return v.global_step;
    }
    std::string log;
    int wrong(std::int64_t step) {
        int n = 0;
        each(step, [&](float x, float is) { n += x != is; });
        for (std::size_t i = 0; i < hashed_keys.size(); ++i) {
            n += server_of_key(hashed_keys[i], servers) != index || hashed_steps[i] != hashed_keys[i] % 10 + 10 + step;
            for (std::size_t a = 0; a < 3; ++a)
                for (int j = 0; j < 2; ++j)
                    n += tables[2][a][2 * i + static_cast<std::size_t>(j)] !=
                        value_of(hashed_keys[i] % 1000 + j, static_cast<int>(a), step);
        }
        return n;
    }
};
std::vector<std::unique_ptr<member>> servers(const std::string& where, int n) {
    std::vector<std::unique_ptr<member>> all;
    for (int k = 0; k < n; ++k) all.push_back(std::make_unique<member>(where, k, n));
    return all;
}
void damage(const std::string& path, std::uint64_t at) {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<std::streamoff>(at));
    const int c = f.get();
    f.seekp(static_cast<std::streamoff>(at));
    f.put(static_cast<char>(c ^ 16));
}

} // namespace

BOOST_AUTO_TEST_CASE(onto_any_number_of_servers) {
    for (const auto& [from, to] : {std::pair{2, 2}, {4, 1}, {1, 4}, {4, 2}, {3, 5}}) {
        const folder where;
        for (auto& m : servers(where.path, from)) m->save(300);
        std::size_t hashed = 0;
        for (auto& m : servers(where.path, to)) {
            BOOST_TEST(m->load() == 300);
            BOOST_TEST(m->wrong(300) == 0, from << " -> " << to);
            hashed += m->hashed_keys.size();
            BOOST_TEST(m->log == (from == to ? to_text({"log of ", m->index, " at 300"}) : "log of 0 at 300"));
        }
        BOOST_TEST(hashed == 100);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_loaded_before_all_have_written) {
    const folder where;
    auto all = servers(where.path, 3);
    BOOST_TEST(all[0]->load() == -1);
    for (auto& m : all) m->save(100);
    all[0]->save(200);
    all[2]->save(200);
    for (auto& m : servers(where.path, 3)) BOOST_TEST(m->load() == 100);
}

// A run that ended between two servers' files must not become half of a later run's checkpoint.
BOOST_AUTO_TEST_CASE(halves_of_two_runs_are_no_checkpoint) {
    const folder where;
    auto first = servers(where.path, 2);
    for (auto& m : first) m->save(100);
    first[1]->save(200);
    auto second = servers(where.path, 2);
    for (auto& m : second) BOOST_TEST(m->load() == 100);
    second[0]->save(200);
    BOOST_TEST(!fs::exists(where.path + "/step-200/manifest.json"));
    second[1]->save(200);
    BOOST_TEST(fs::exists(where.path + "/step-200/manifest.json"));
}

BOOST_AUTO_TEST_CASE(of_a_damaged_one_the_one_before_is_taken_by_all) {
    const char* const names[] = {"manifest.json", "shard-0-of-2.safetensors", "shard-1-of-2.safetensors"};
    for (const char* name : names)
        for (const double part : {0.0, 0.3, 0.99}) {
            const folder where;
            for (auto& m : servers(where.path, 2)) m->save(100), m->save(200);
            const std::string file = where.path + "/step-200/" + name;
            damage(file, static_cast<std::uint64_t>(part * static_cast<double>(fs::file_size(file) - 1)));
            const bool harmless = std::string(name) == "manifest.json" && part > 0.5;   // the owner's name, as it is
            for (auto& m : servers(where.path, 2)) {
                const std::int64_t step = m->load();
                BOOST_TEST((step == 100 || (harmless && step == 200)), name << " at " << part);
                BOOST_TEST(m->wrong(step) == 0);
            }
        }
    const folder where;
    for (auto& m : servers(where.path, 2)) m->save(100), m->save(200);
    fs::resize_file(where.path + "/step-200/shard-1-of-2.safetensors", 1000);
    for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 100);
    fs::remove(where.path + "/step-200/shard-0-of-2.safetensors");
    for (auto& m : servers(where.path, 1)) BOOST_TEST(m->load() == 100);
    damage(where.path + "/step-100/shard-0-of-2.safetensors", 5000);
    for (auto& m : servers(where.path, 2)) BOOST_CHECK_THROW(m->load(), error);
}

BOOST_AUTO_TEST_CASE(another_program_is_refused) {
    const folder where;
    for (auto& m : servers(where.path, 2)) m->save(100);
    member other(where.path, 0, 1, 18);
    BOOST_CHECK_THROW(other.load(), mismatch_error);
}

BOOST_AUTO_TEST_CASE(who_was_replaced_writes_no_more) {
    const folder where;
    auto old = servers(where.path, 4);
    for (auto& m : old) m->save(100);
    auto now = servers(where.path, 2);   // replaces all four
    for (auto& m : old) BOOST_CHECK_THROW(m->save(200), io_error);
    for (auto& m : now) BOOST_TEST(m->load() == 100);
    for (auto& m : now) m->save(200);
    for (auto& m : servers(where.path, 4)) BOOST_TEST(m->load() == 200);
}

BOOST_AUTO_TEST_CASE(old_ones_go) {
    const folder where;
    auto all = servers(where.path, 2);
    for (const std::int64_t step : {100, 200, 300, 400})
        for (std::size_t k = 2; k-- > 0;) all[k]->save(step);
    BOOST_TEST(!fs::exists(where.path + "/step-200"));
    BOOST_TEST(fs::exists(where.path + "/step-300/manifest.json"));
    BOOST_CHECK_THROW(all[0]->save(500, "a/b"), option_error);
    BOOST_CHECK_THROW(all[0]->save(500, ".."), option_error);
}

// Server 0 never finds the others' files when it has written its own, and removes old ones all the same.
BOOST_AUTO_TEST_CASE(old_ones_go_where_server_0_is_always_the_first) {
    const folder f;
    member first(f.path, 0, 2), last(f.path, 1, 2);
    for (std::int64_t step = 1; step <= 9; ++step)
        for (member* m : {&first, &last}) {
            m->fill(step);
            m->files->save(m->view(step), {});
        }
    for (std::int64_t step = 1; step <= 9; ++step)   // two, and one that was not whole when old ones were removed
        BOOST_TEST(fs::exists(to_text({f.path, "/step-", step})) == (step >= 7), step);
}

// Asynchronous servers have steps of their own: a name that they were given makes one checkpoint of
// them, which says so.
BOOST_AUTO_TEST_CASE(servers_of_different_steps) {
    const folder where;
    auto all = servers(where.path, 2);
    all[0]->save(301, "step-300");
    all[1]->save(304, "step-300");
    BOOST_TEST(!read_manifest(where.path + "/step-300/manifest.json").is_one_step());
    auto again = servers(where.path, 2);
    BOOST_TEST(again[0]->load() == 301);
    BOOST_TEST(again[1]->load() == 304);
    BOOST_TEST(again[1]->wrong(304) == 0);
}

// By clocks one name may be written twice: by seconds, for a step that was foreseen, and when that step is made. Who is
// killed in between leaves parts of two steps.
BOOST_AUTO_TEST_CASE(parts_of_two_steps_are_no_checkpoint) {
    const auto save = [](std::unique_ptr<member>& m, std::int64_t step, std::int64_t clock, const char* name) {
        m->clock = clock;
        m->save(step, name);
    };
    for (const bool by_hand : {false, true}) {
        const folder where;
        auto all = servers(where.path, 2);
        for (auto& m : all) save(m, 100, 100, "step-100");
        for (auto& m : all) save(m, 309, 310, "step-310");   // a clock was no update
        for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 309);
        all = servers(where.path, 2);
        for (auto& m : all) save(m, 309, 310, "step-310");
        save(all[0], 310, 311, "step-310");
        if (by_hand) {   // as a program of before would have written it
            const std::string folder = where.path + "/step-310/";
            shard_manifest m;
            for (const char* k : {"0", "1"}) m.shards.push_back(read_record_file(folder + "shard-" + k + "-of-2.json"));
            BOOST_TEST(!m.is_one_moment());
            std::ofstream(folder + "manifest.json") << m.text();
        }
        for (auto& m : servers(where.path, 2)) {
            BOOST_TEST(m->load() == 100, "by hand: " << by_hand);
            BOOST_TEST(m->wrong(100) == 0);
        }
        all = servers(where.path, 2);
        for (auto& m : all) save(m, 310, 311, "step-310");
        for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 310);
    }
}
// A server that began again from a checkpoint has made fewer updates, at the clocks of the others.
BOOST_AUTO_TEST_CASE(who_has_lost_updates_is_part_of_a_checkpoint) {
    const folder where;
    auto all = servers(where.path, 2);
    all[0]->clock = all[1]->clock = 300;
    all[0]->save(290, "step-305");   // by seconds: behind one clock
    all[1]->save(300, "step-305");
    for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == (m->index ? 300 : 290));
    all = servers(where.path, 2);
    all[0]->clock = 320, all[1]->clock = 310;
    for (auto& m : all) m->save(310);   // by steps
    for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 310);
}

// The chief has loaded an older step: those of later steps are from before.
BOOST_AUTO_TEST_CASE(after_an_older_step_later_ones_are_older) {
    const folder where;
    auto all = servers(where.path, 2);
    for (const std::int64_t step : {100, 200, 300})
        for (auto& m : all) m->clock = step, m->save(step);
    for (auto& m : all) m->files->begin_anew(), m->version = 1;
    all[0]->save(301, "step-300");   // one of the new ones and one of before are no checkpoint
    for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 200);
    all = servers(where.path, 2);
    for (auto& m : all) m->version = 1, m->clock = 400, m->save(110);
    for (auto& m : servers(where.path, 2)) {
        BOOST_TEST(m->load() == 110);
        BOOST_TEST(m->wrong(110) == 0);
    }
    all = servers(where.path, 2);
    for (auto& m : all) m->version = 1, m->clock = 410, m->save(120);
    for (auto& m : all) m->clock = 420, m->save(130);
    for (const std::int64_t step : {200, 300}) BOOST_TEST(!fs::exists(to_text({where.path, "/step-", step})));
    for (const std::int64_t step : {120, 130}) BOOST_TEST(fs::exists(to_text({where.path, "/step-", step})));
    for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 130);
}

// What was loaded has the lowest name while it is made, by one server before the other.
BOOST_AUTO_TEST_CASE(what_is_being_made_of_an_older_step_stays) {
    for (const int first : {0, 1}) {
        const folder where;
        auto all = servers(where.path, 2);
        for (const std::int64_t step : {3, 6, 9})
            for (auto& m : all) m->clock = step, m->save(step);
        const auto load_step_2 = [&](int k) {
            member& m = *all[static_cast<std::size_t>(k)];
            m.files->begin_anew();
            m.version = 1, m.clock = 9;
            m.save(2);
        };
        load_step_2(first);
        if (first == 1) all[0]->save(9);   // its disk is slow
        load_step_2(1 - first);
        for (auto& m : servers(where.path, 2)) BOOST_TEST(m->load() == 2, "first: " << first);
    }
}
// By clocks a server may be ahead, in a folder that has a checkpoint from before.
BOOST_AUTO_TEST_CASE(what_another_server_has_written_over_stays) {
    const folder where;
    const auto there = [&](std::int64_t step) { return fs::exists(to_text({where.path, "/step-", step})); };
    const std::string mark = where.path + "/step-9/shard-1-of-2.saving";
    {
        member first(where.path, 0, 2, 17, 3), second(where.path, 1, 2, 17, 3);
        const auto save = [&](std::int64_t step) { first.save(step), second.save(step); };
        for (const std::int64_t step : {3, 6, 9, 12}) save(step);
        for (member* m : {&first, &second}) m->files->begin_anew(), m->version = 1;
        save(2);
        second.save(6);
        std::ofstream(mark) << "";   // it writes there
        save(4);
        BOOST_TEST(there(6));
        save(5);
        BOOST_TEST(there(9));
        first.save(6);
    }
    member first(where.path, 0, 2, 17, 3), second(where.path, 1, 2, 17, 3);
    for (member* m : {&first, &second}) BOOST_TEST(m->load() == 6);
    BOOST_TEST(!fs::exists(mark));   // of a life before
    for (member* m : {&first, &second}) m->version = 1;
    for (const std::int64_t step : {7, 8, 10}) first.save(step), second.save(step);
    first.save(11);
    for (const std::int64_t step : {2, 3, 4, 5, 6, 9, 12}) BOOST_TEST(!there(step), step);
    for (const std::int64_t step : {7, 8, 10, 11}) BOOST_TEST(there(step), step);
}
// Asynchronous servers' parts may be of any steps, but not of values from before and after load().
BOOST_AUTO_TEST_CASE(parts_from_before_and_after_a_load_are_no_checkpoint) {
    const folder where;
    auto all = servers(where.path, 2);
    for (auto& m : all) m->save(100);
    all[0]->save(200);
    all[1]->version = 1;
    all[1]->save(200);
    BOOST_TEST(!fs::exists(where.path + "/step-200/manifest.json"));
    shard_manifest m;
    for (const char* k : {"0", "1"})
        m.shards.push_back(read_record_file(to_text({where.path, "/step-200/shard-", k, "-of-2.json"})));
    std::ofstream(where.path + "/step-200/manifest.json") << m.text();   // as a program of before would have written it
    for (auto& k : servers(where.path, 2)) BOOST_TEST(k->load() == 100);
}

// Of what is older than the one that is taken nothing is said.
BOOST_AUTO_TEST_CASE(only_skipped_checkpoints_are_reported) {
    const folder where;
    auto all = servers(where.path, 2);
    for (const std::int64_t step : {100, 200, 300})
        for (auto& m : all) m->save(step);
    const auto said = [&] {
        const std::string to = where.outer / "stderr";
        std::fflush(stderr);
        const int before = ::dup(2), file = ::open(to.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666);
        ::dup2(file, 2), ::close(file);
        std::int64_t step = 0;
        {
            member one(where.path, 0, 1);
            step = one.load();
        }
        std::fflush(stderr);
        ::dup2(before, 2), ::close(before);
        std::ifstream in(to);
        return to_text({step, ": ", std::string(std::istreambuf_iterator<char>(in), {})});
    };
    std::ofstream(where.path + "/step-200/manifest.json") << "nothing";
    BOOST_TEST(said() == "300: ");
    fs::create_directory(where.path + "/step-400");
    std::ofstream(where.path + "/step-400/manifest.json") << "nothing";
    const std::string of_400 = said();
    BOOST_TEST(of_400.starts_with("300: "));
    BOOST_TEST(of_400.find("step-400") != std::string::npos);
    BOOST_TEST(of_400.find("step-200") == std::string::npos);
}

// SIGKILL at 200 random points of two servers that save again and again: what loads is one step's,
// on both, never a mixture.
BOOST_AUTO_TEST_CASE(killed_at_random_points) {
    const folder where;
    std::mt19937 random(3);
    std::int64_t last = -1;
    for (int kill = 0; kill < 100; ++kill) {
        pid_t child[2];
        const shared_flag saved[2];
        for (int k = 0; k < 2; ++k)
            if ((child[k] = ::fork()) == 0) {
                member m(where.path, k, 2);
                for (std::int64_t step = m.load() + 1;; ++step) m.save(step), saved[k].set();
            }
        // Every other time at whatever it does first, else once both have saved, however busy the machine is.
        for (int k = 0; kill % 2 == 0 && k < 2; ++k) saved[k].wait();
        std::this_thread::sleep_for(std::chrono::microseconds(2000 + random() % 30000));
        const int first = static_cast<int>(random() % 2);
        ::kill(child[first], SIGKILL);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
        ::kill(child[1 - first], SIGKILL);
        for (const pid_t c : child) ::waitpid(c, nullptr, 0);
        std::int64_t seen[2];
        for (int k = 0; k < 2; ++k) {
            member m(where.path, k, 2);
            seen[k] = m.load();
            if (seen[k] >= 0) BOOST_TEST(m.wrong(seen[k]) == 0);
        }
        BOOST_TEST(seen[0] == seen[1]);
        BOOST_TEST(seen[0] >= last);   // nothing that was whole is lost
        last = seen[0];
    }
    BOOST_TEST(last > 0);
}
