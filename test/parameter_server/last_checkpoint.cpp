// SPDX-License-Identifier: BSL-1.0
// shows servers: the last checkpoint has the last step on every server; names never fall
// needs: distributed
// waits: for files that are slow on purpose
// What several servers save is whole, and the last of it has all that workers have pushed.
#include "job_of_threads.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <io/temporary_folder.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/client/save_broadcast.hpp>
#include <sinter/parameter_server/shard_checkpoint.hpp>

using namespace sinter;
using namespace sinter::ps_test;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t floats = 32;

/// Files that take their time, and what was written: name and step.
struct slow_files : parameter_servers::shard_files {
    std::unique_ptr<parameter_servers::shard_files> to;   // none: it is only noted
    int milliseconds = 0;
    std::atomic<bool> waits{false}, is_full{false};
    std::mutex mutex;
    std::vector<std::pair<std::string, std::int64_t>> written;

    void save(const parameter_servers::shard_view& v, const std::string& where) override {
        while (waits) ::usleep(1000);
        if (is_full) throw io_error("no space is left", where);
        ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
        if (to) to->save(v, where);
        const std::lock_guard hold(mutex);
        written.emplace_back(where, v.global_step);
    }
    bool load(parameter_servers::shard_view& v) override { return to && to->load(v); }
    void begin_anew() override {
        if (to) to->begin_anew();
    }
    std::size_t count() {
        const std::lock_guard hold(mutex);
        return written.size();
    }
};
/// Server k's files in a folder.
std::shared_ptr<slow_files> files_in(const std::string& folder, int k, int servers, int milliseconds, int keep = 0) {
    auto f = std::make_shared<slow_files>();
    f->to = parameter_servers::checkpoints_of({folder, k, servers, 7, {{k * floats, 0, 0, floats}}, {}, keep});
    f->milliseconds = milliseconds;
    return f;
}
void begin(parameter_servers::client& c) {
    const std::vector<float> zeros(floats);
    if (!c.initialised())
        for (int s = 0; s < c.servers(); ++s) c.write(s, 0, 0, zeros);
    c.open(0);
}
void push(parameter_servers::client& c, bool finite = true) {
    const std::vector<float> g(floats, -1.f);
    c.begin_push();
    for (int s = 0; s < c.servers(); ++s) c.push(s, 0, g);
    c.wait(c.commit({.loss = 1, .finite = finite}));
}
/// What one server writes by itself, every so many steps, while one worker does works(client), and
/// leaves behind `steps` updates.
template <class Works>
std::vector<std::pair<std::string, std::int64_t>> written_beside(parameter_servers::update_order order,
                                                                 std::int64_t every, int milliseconds,
                                                                 std::int64_t steps, Works works) {
    const job j(1, 1, dense_layout(floats));
    const auto files = std::make_shared<slow_files>();
    files->milliseconds = milliseconds;
    parameter_servers::server_options o;
    o.order = order;
    o.save_every_steps = every;
    o.files = files;
    auto server = j.server(0, o);
    threads serving, working;
    serving.start([&] { server->run(); });
    working.start([&] {
        const auto c = j.client(0);
        begin(*c);
        works(*c);
        c->leave();
    });
    no_fault_of(working);
    no_fault_of(serving);
    BOOST_TEST(server->global_step() == steps);
    server.reset();
    return files->written;
}
/// Folders of checkpoints, by their steps.
std::vector<std::int64_t> checkpoints_in(const std::string& folder) {
    std::vector<std::int64_t> all;
    for (const auto& f : fs::directory_iterator(folder))
        if (f.is_directory()) all.push_back(std::atoll(f.path().filename().c_str() + 5));
    std::sort(all.begin(), all.end());
    return all;
}
/// How many of them are whole.
std::size_t whole_in(const std::string& folder) {
    std::size_t n = 0;
    for (const std::int64_t step : checkpoints_in(folder))
        n += fs::exists(to_text({folder, "/step-", step, "/manifest.json"}));
    return n;
}
/// The chief sets the values and steps of a job that runs, as load() of an older step does.
void load_step_2(parameter_servers::client& c) {
    c.begin_renewal();
    for (int s = 0; s < c.servers(); ++s) c.write(s, 0, 0, std::vector<float>(floats, 77.f));
    c.end_renewal();
    c.use_newest();
    c.open(0, 2, false);
}
/// The step of each server's part.
std::vector<std::int64_t> parts(const std::string& folder, std::int64_t step) {
    std::vector<std::int64_t> all;
    const std::string manifest = to_text({folder, "/step-", step, "/manifest.json"});
    BOOST_TEST_REQUIRE(fs::exists(manifest), manifest);
    for (const auto& r : parameter_servers::read_manifest(manifest).shards) {
        parameter_servers::check_file(to_text({folder, "/step-", step}), r);
        all.push_back(r.step);
    }
    return all;
}

/// Adds up with all gradients' norm; server 1 takes its time.
class slow_sum : public plain_sgd {
public:
    explicit slow_sum(int milliseconds) : milliseconds_(milliseconds) {}
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::all_gradients; }
    float squares(const float* g, std::int64_t n) const override {
        ::usleep(static_cast<useconds_t>(milliseconds_) * 1000);
        return plain_sgd::squares(g, n);
    }
    void update(int group, float* p, const float* g, float* slots, std::int64_t stride, std::int64_t n, const float* s,
                float sum) const override {
        ::usleep(static_cast<useconds_t>(milliseconds_) * 1000);
        plain_sgd::update(group, p, g, slots, stride, n, s, sum);
    }

private:
    int milliseconds_;
};

} // namespace

/// Asynchronous servers that save by steps and by seconds, one of which is slow in it.
BOOST_AUTO_TEST_CASE(each_asynchronous_checkpoint_has_a_part_of_every_server) {
    constexpr int servers = 3, workers = 2, pushes = 400;
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    for (const bool stops : {false, true}) {
        fs::remove_all(folder);
        const job j(workers, servers, dense_layout(floats));
        std::vector<std::unique_ptr<parameter_servers::server>> all;
        threads serving, working;
        for (int s = 0; s < servers; ++s) {
            parameter_servers::server_options o;
            o.save_every_steps = 7;
            o.save_every_seconds = 0.01;
            o.files = files_in(folder, s, servers, s == 1 ? 20 : 0);
            all.push_back(j.server(s, o));
        }
        for (auto& s : all) serving.start([&s] { s->run(); });
        for (int w = 0; w < workers; ++w)
            working.start([&, w] {
                const auto c = j.client(w);
                if (w == 0) begin(*c);
                c->wait_until_open();
                for (int k = 0; k < pushes && c->may_step(); ++k) push(*c), ::usleep(300);
                if (stops && w == 0) c->ask_all_to_stop("enough");
                c->rest();
                if (w == 0) c->wait_for_others();
                c->leave();
            });
        no_fault_of(working);
        no_fault_of(serving);
        const std::int64_t last = all[0]->global_step();
        all.clear();   // what they write is written
        const std::vector<std::int64_t> there = checkpoints_in(folder);
        BOOST_TEST(!there.empty());   // how many there are is a matter of the disk
        for (const std::int64_t step : there) BOOST_TEST(parts(folder, step).size() == std::size_t{servers}, step);
        if (!stops) continue;   // else the last one has all that was pushed
        BOOST_TEST(there.back() == last);
        BOOST_TEST(parts(folder, there.back()) == std::vector<std::int64_t>(servers, last),
                   boost::test_tools::per_element());
    }
}

/// Tells how far one server is behind another in writing.
struct counted_files : parameter_servers::shard_files {
    std::atomic<int>*mine, *other, *most;
    int milliseconds;
    counted_files(std::atomic<int>& m, std::atomic<int>& o, std::atomic<int>& d, int ms)
        : mine(&m), other(&o), most(&d), milliseconds(ms) {}
    void save(const parameter_servers::shard_view&, const std::string&) override {
        ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
        const int behind = ++*mine - *other;
        for (int seen = *most; behind > seen && !most->compare_exchange_weak(seen, behind);) {}
    }
    bool load(parameter_servers::shard_view&) override { return false; }
};
/// A server whose disk is slow, where each push is an update: no other save is named before it has made the last one,
/// but for one at the end.
BOOST_AUTO_TEST_CASE(slow_disk_delays_do_not_grow) {
    const job j(2, 2, dense_layout(floats));
    std::atomic<int> written[2] = {}, most[2] = {};
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving, working;
    for (int s = 0; s < 2; ++s) {
        parameter_servers::server_options o;
        o.save_every_steps = 5;
        o.files = std::make_shared<counted_files>(written[s], written[1 - s], most[s], s == 1 ? 40 : 0);
        all.push_back(j.server(s, o));
    }
    for (auto& s : all) serving.start([&s] { s->run(); });
    for (int w = 0; w < 2; ++w)
        working.start([&, w] {
            const auto c = j.client(w);
            if (w == 0) begin(*c);
            c->wait_until_open();
            while (written[1] < 5) push(*c);
            if (w == 0) c->ask_all_to_stop("enough");
            c->leave();
        });
    no_fault_of(working);
    no_fault_of(serving);
    all.clear();
    BOOST_TEST(written[0] == written[1]);
    BOOST_TEST(most[0] <= 2);   // server 0 is ahead by the one that is being made, and the one at the end
}

/// Server 0 begins again from an older checkpoint than the others have heard of: what it names then they have not made.
BOOST_AUTO_TEST_CASE(save_names_never_fall_after_restart_of_server_0) {
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    const job j(1, 2, dense_layout(floats));
    std::shared_ptr<slow_files> files[2];
    const auto made = [&](int s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::stale(0);
        o.save_every_seconds = 1e-6;
        o.files = files[s] = files_in(folder, s, 2, 0);
        return j.server(s, o);
    };
    const auto names_of = [&](int s) {
        const std::lock_guard hold(files[s]->mutex);
        std::vector<std::int64_t> names;
        for (const auto& [name, step] : files[s]->written) names.push_back(std::atoll(name.c_str() + 5));
        return names;
    };
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads first, second, again;
    for (int s = 0; s < 2; ++s) all.push_back(made(s));
    first.start([&] { all[0]->run(); });
    second.start([&] { all[1]->run(); });
    std::int64_t last = 0;
    {
        const auto c = j.client(0, {.reconnect_within = 60});
        begin(*c);
        while (names_of(0).size() < 8) push(*c);
        for (int k = 0; k < 5; ++k) push(*c, false);   // no update: nothing more is named
        all[0]->stop();
        first.join();
        all[0].reset();
        const std::vector<std::int64_t> before = names_of(0);
        last = before.back();
        for (std::size_t k = 2; k < before.size(); ++k)   // as if server 1 had been slow, and these were not whole
            fs::remove(to_text({folder, "/step-", before[k], "/manifest.json"}));
        all[0] = made(0);
        again.start([&] { all[0]->run(); });
        while (names_of(0).size() < 3) push(*c);
        c->leave();
    }
    no_fault_of(second);
    no_fault_of(again);
    const std::vector<std::int64_t> names = names_of(0);
    all.clear();
    for (const std::int64_t name : names) BOOST_TEST(name > last);
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(parts(folder, names[k]).size() == 2u);   // server 1 has made it, too
}

/// When load() of an older step returns, what was loaded is a checkpoint, which a job that is started again goes on
/// from: whoever is slower, however few checkpoints are kept, and though another worker pushes throughout.
void goes_on_from_what_was_loaded(const parameter_servers::update_order& order, int keep, int slow,
                                  bool pushed_throughout) {
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    const job j(pushed_throughout ? 2 : 1, 2, dense_layout(floats));
    const auto made = [&](int s) {
        parameter_servers::server_options o;
        o.order = order;
        o.save_every_steps = 3;
        o.files = files_in(folder, s, 2, s == slow ? 20 : 0, keep);
        return j.server(s, o);
    };
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving, working;
    for (int s = 0; s < 2; ++s) all.push_back(made(s));
    for (auto& s : all) serving.start([&s] { s->run(); });
    const auto c = j.client(0);
    begin(*c);
    std::atomic<bool> ends{false};
    if (pushed_throughout)
        working.start([&] {
            const auto other = j.client(1);
            other->wait_until_open();
            while (!ends) other->use_newest(), push(*other);
            other->leave();
        });
    for (int k = 0; k < 9 || whole_in(folder) < 2; ++k) push(*c);
    if (order.mode == parameter_servers::update_mode::clocks)
        while (!fs::exists(folder + "/step-9/manifest.json")) ::usleep(1000);
    load_step_2(*c);
    const bool is_whole = fs::exists(folder + "/step-2/manifest.json");
    ends = true;
    no_fault_of(working);
    BOOST_TEST_REQUIRE(is_whole);
    const std::vector<std::int64_t> steps = parts(folder, 2);
    BOOST_TEST(steps.size() == 2u);
    if (!pushed_throughout) BOOST_TEST(steps == std::vector<std::int64_t>(2, 2), boost::test_tools::per_element());
    c->fail("killed");
    serving.join();
    all.clear();
    BOOST_TEST(checkpoints_in(folder).back() > 2);   // those of before are there
    if (pushed_throughout) return;
    for (int s = 0; s < 2; ++s) all.push_back(made(s));
    for (auto& s : all) BOOST_TEST(s->global_step() == 2);
}
BOOST_AUTO_TEST_CASE(what_was_loaded_is_what_a_new_start_goes_on_from) {
    for (const auto& order : {parameter_servers::update_order::stale(0), parameter_servers::update_order::async()})
        for (const int keep : {0, 2})
            for (const int slow : {0, 1}) goes_on_from_what_was_loaded(order, keep, slow, false);
}
BOOST_AUTO_TEST_CASE(what_was_loaded_has_one_name_while_others_push) {
    for (const int slow : {0, 1}) goes_on_from_what_was_loaded(parameter_servers::update_order::async(), 0, slow, true);
}
BOOST_AUTO_TEST_CASE(load_reports_unwritable_checkpoint) {
    const temporary_folder outer;
    const job j(1, 2, dense_layout(floats));
    std::vector<std::shared_ptr<slow_files>> files;
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving;
    for (int s = 0; s < 2; ++s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::async();
        files.push_back(files_in(outer / "servers", s, 2, 0));
        o.files = files.back();
        all.push_back(j.server(s, o));
    }
    for (auto& s : all) serving.start([&s] { s->run(); });
    const auto c = j.client(0);
    begin(*c);
    for (int k = 0; k < 5; ++k) push(*c);
    files[1]->is_full = true;
    BOOST_CHECK_EXCEPTION(load_step_2(*c), cluster_error, [](const cluster_error& e) {
        const std::string what = e.what();
        return what.find("no space is left") != what.npos && what.find("what was loaded") != what.npos;
    });
    for (auto& s : all) s->stop();
    serving.join();
}
/// A server that begins again from a checkpoint of before is part of the job's next ones.
BOOST_AUTO_TEST_CASE(who_has_missed_what_was_loaded_is_part_of_the_next_ones) {
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    const job j(1, 2, dense_layout(floats));
    const auto made = [&](int s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::async();
        o.save_every_steps = 3;
        o.files = files_in(folder, s, 2, 0);
        return j.server(s, o);
    };
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads first, second, again;
    for (int s = 0; s < 2; ++s) all.push_back(made(s));
    first.start([&] { all[0]->run(); });
    second.start([&] { all[1]->run(); });
    const auto c = j.client(0, {.reconnect_within = 60});
    begin(*c);
    while (whole_in(folder) < 2) push(*c);
    load_step_2(*c);
    fs::remove(folder + "/step-2/manifest.json");   // as if the disk had lost it
    all[1]->stop();
    second.join();
    all[1].reset();
    const std::size_t before = whole_in(folder);
    all[1] = made(1);
    BOOST_TEST(all[1]->global_step() > 2);
    again.start([&] { all[1]->run(); });
    for (int k = 0; k < 3000 && whole_in(folder) <= before; ++k) c->use_newest(), push(*c);
    BOOST_TEST(whole_in(folder) > before);
    c->leave();
    no_fault_of(first);
    no_fault_of(again);
}

/// Where each push is an update: one worker rests, and knows that all servers have heard of a save that one of them has
/// not made yet. The other goes on: no other save is named.
BOOST_AUTO_TEST_CASE(who_rests_makes_no_save_of_a_slow_disk_be_made) {
    const job j(2, 2, dense_layout(floats));
    std::vector<std::shared_ptr<slow_files>> files;
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving;
    for (int s = 0; s < 2; ++s) {
        files.push_back(std::make_shared<slow_files>());
        parameter_servers::server_options o;
        o.save_every_steps = 5;
        o.files = files.back();
        all.push_back(j.server(s, o));
    }
    files[1]->waits = true;
    for (auto& s : all) serving.start([&s] { s->run(); });
    {
        const auto c = j.client(0), other = j.client(1);
        begin(*c);
        other->wait_until_open();
        while (files[0]->count() < 1) push(*c);
        for (int k = 0; k < 3; ++k) push(*other);   // it hears of the save, tells of it, and knows that it has
        other->rest();
        for (int k = 0; k < 200; ++k) push(*c);
        BOOST_TEST(files[0]->count() == 1u);
        files[1]->waits = false;
        while (files[0]->count() < 2) push(*c);
        c->leave(), other->leave();
    }
    no_fault_of(serving);
    all.clear();
    BOOST_TEST(files[0]->count() == files[1]->count());
}

/// Server 0 hears that a save is known when the others have answered, not when they have been told.
BOOST_AUTO_TEST_CASE(a_save_is_known_when_all_others_have_answered) {
    parameter_servers::save_broadcast t;
    std::int64_t last = 0;   // push that all others have answered
    const auto known = [&](std::int64_t save, std::int64_t push) {
        t.send(save, push, [&](std::int64_t n) { return n <= last; });
        return t.known();
    };
    BOOST_TEST(known(0, 1) == 0);
    BOOST_TEST(known(7, 2) == 0);
    BOOST_TEST(known(7, 3) == 0);
    last = 1;
    BOOST_TEST(known(14, 4) == 0);   // another worker has told server 0 that 7 is known
    last = 2;
    BOOST_TEST(known(14, 5) == 7);
    last = 4;
    BOOST_TEST(known(14, 6) == 7);   // told with push 5
    last = 5;
    BOOST_TEST(known(14, 7) == 14);
    t.know(21);
    BOOST_TEST(known(14, 8) == 21);
}

/// With backup workers, and clipping by the norm of all gradients, server 0 says which clocks there are.
void ends_with_the_last_clock(bool waits) {
    constexpr int clocks = 4;
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    std::vector<parameter_servers::shard_layout> l(2, dense_layout(floats));
    l[0].runs[0].tensor = 0, l[1].runs[0].tensor = 1;
    const job j(2, l);
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving, working;
    for (int s = 0; s < 2; ++s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::sync(1);
        o.parameters = 2;
        o.files = files_in(folder, s, 2, 0);
        o.save_every_steps = 1'000'000;
        all.push_back(std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, s), j.same, l[static_cast<std::size_t>(s)], std::make_unique<slow_sum>(s * 200),
            [](std::int64_t, float, float* to) { to[0] = 1; }, o));
    }
    for (auto& s : all) serving.start([&s] { s->run(); });
    for (int w = 0; w < 2; ++w)
        working.start([&, w] {
            const auto c = j.client(w);
            if (w == 0) begin(*c);
            c->wait_until_open();
            if (w == 1) return c->leave();
            for (int k = 0; k < clocks; ++k) push(*c);   // taken, and not waited for
            c->ask_all_to_stop("enough");
            if (waits) c->wait_for_others();
            std::vector<float> x(floats);
            for (int s = 0; waits && s < 2; ++s) {
                c->read(s, 0, 0, x);
                SINTER_NEED(x[0] == clocks);
            }
            c->leave();
        });
    no_fault_of(working);
    no_fault_of(serving);
    for (auto& s : all) BOOST_TEST(s->global_step() == clocks);
    all.clear();
    BOOST_TEST(checkpoints_in(folder) == std::vector<std::int64_t>{clocks}, boost::test_tools::per_element());
    BOOST_TEST(parts(folder, clocks) == std::vector<std::int64_t>(2, clocks), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(no_server_ends_before_the_last_clock) {
    for (const bool waits : {false, true}) ends_with_the_last_clock(waits);
}

/// Server 1 comes again from a checkpoint, behind a clock that server 0 has applied, when workers make no steps any
/// more: what made that clock never comes, and nobody waits for it.
BOOST_AUTO_TEST_CASE(a_server_that_comes_again_at_the_end_passes_what_is_over) {
    constexpr std::int64_t clocks = 4, saved = 3;
    const temporary_folder outer;
    const std::string folder = outer / "servers";
    std::vector<parameter_servers::shard_layout> l(2, dense_layout(floats));
    l[0].runs[0].tensor = 0, l[1].runs[0].tensor = 1;
    const job j(2, l);
    const auto made = [&](int s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::sync(1);
        o.parameters = 2;
        o.files = files_in(folder, s, 2, 0);
        o.save_every_steps = saved;
        return std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, s), j.same, l[static_cast<std::size_t>(s)], std::make_unique<slow_sum>(0),
            [](std::int64_t, float, float* to) { to[0] = 1; }, o);
    };
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    for (int s = 0; s < 2; ++s) all.push_back(made(s));
    threads first, second, again;
    first.start([&] { all[0]->run(); });
    second.start([&] { all[1]->run(); });
    {
        const auto chief = j.client(0, {.reconnect_within = 60}), other = j.client(1, {.reconnect_within = 60});
        begin(*chief);
        for (int k = 0; k < clocks; ++k) push(*other);   // each makes a clock by itself
        other->rest();
        chief->rest();
        while (!fs::exists(to_text({folder, "/step-", saved, "/manifest.json"}))) ::usleep(1000);
        all[1]->stop();
        second.join();
        all[1].reset();
        all[1] = made(1);
        again.start([&] { all[1]->run(); });
        for (const auto& c : {chief.get(), other.get()})
            c->call(1, parameter_servers::calls::get_counters());   // it is there
        chief->leave();
        other->leave();
    }
    no_fault_of(first);
    no_fault_of(second);
    no_fault_of(again);
    BOOST_TEST(all[0]->global_step() == clocks);
    BOOST_TEST(all[1]->global_step() == saved);
}

/// Clocks wait until a checkpoint that is due has been copied: also where all workers have left meanwhile.
BOOST_AUTO_TEST_CASE(clocks_that_wait_for_a_checkpoint_are_not_forgotten) {
    const auto written =
        written_beside(parameter_servers::update_order::stale(3), 2, 300, 7, [](parameter_servers::client& c) {
            for (int k = 0; k < 7; ++k) push(c);
        });
    BOOST_TEST_REQUIRE(written.size() == 3u);
    for (std::size_t k = 0; k < 3; ++k)
        BOOST_TEST(to_text({written[k].first, " at ", written[k].second}) ==
                   to_text({"step-", 2 * (k + 1), " at ", 2 * (k + 1)}));
}
/// A checkpoint that was asked for does not take the place of one that is due.
BOOST_AUTO_TEST_CASE(one_that_is_asked_for_is_one_more) {
    const auto written =
        written_beside(parameter_servers::update_order::stale(0), 3, 0, 7, [](parameter_servers::client& c) {
            for (int k = 0; k < 3; ++k) push(c);
            c.call(0, parameter_servers::calls::checkpoint{"mine"});
            for (int k = 0; k < 4; ++k) push(c);
        });
    std::vector<std::string> names;
    for (const auto& [name, step] : written)
        if (name != "mine") names.push_back(to_text({name, " at ", step}));
    BOOST_TEST(names == (std::vector<std::string>{"step-3 at 3", "step-6 at 6"}), boost::test_tools::per_element());
}
