// SPDX-License-Identifier: BSL-1.0
// shows servers: any bytes from workers, copies, manifests and changes of tables change nothing
// The bytes of calls, pushes and answers are those of the tables in include/sinter/parameter_server/README.md, whose
// offsets, types and names are read here; what is not of a call is refused.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/protocol.hpp>

using namespace sinter;
using namespace sinter::parameter_servers;

namespace {

struct row {
    std::string offset, bytes, type, name;
};
/// What that page has: tables by "call argument", "call answer" or the name of a block, and the calls' names.
struct page {
    std::map<std::string, std::vector<row>> tables;
    std::map<int, std::string> calls;
    std::map<std::string, std::string> answered_as;   // by the name of a call, that of another

    page() {
        const char* const top = std::getenv("SINTER_SOURCE");
        std::ifstream file(std::string(top ? top : ".") + "/include/sinter/parameter_server/README.md");
        BOOST_REQUIRE_MESSAGE(file, "the page is read below SINTER_SOURCE, the repository's root");
        const std::regex heading(R"(### (\d+) `(\w+)`)"), as(R"(.*Its answer is that of `(\w+)`\.)"),
            columns(R"(\| offset \| bytes \| type \| (\w+) \|)"),
            field(R"(\| (\d+\+?) \| ([^|]+) \| ([a-z0-9 ]+) \| `(\w+)`: .+ \|)");
        std::string line, call, now;
        for (std::smatch m; std::getline(file, line);) {
            if (std::regex_match(line, m, heading)) calls[std::stoi(m[1])] = call = m[2];
            else if (std::regex_match(line, m, as)) answered_as[call] = m[1];
            else if (std::regex_match(line, m, columns))
                tables[now = m[1] == "argument" || m[1] == "answer" ? call + " " + m[1].str() : m[1].str()];
            else if (std::regex_match(line, m, field) && !now.empty())
                tables.at(now).push_back({m[1], m[2], m[3], m[4]});
            else if (!line.starts_with("|---") && !now.empty()) {
                BOOST_TEST((line.empty() || line[0] != '|'), "not a row of a table: " + line);
                now.clear();
            }
        }
    }
};
const page& wire_page() {
    static const page p;
    return p;
}

/// Reads values of a page's types.
struct walk {
    std::string_view bytes;
    std::size_t at = 0;

    template <class T>
    T take() {
        T x{};
        BOOST_REQUIRE(at + sizeof x <= bytes.size());
        std::memcpy(&x, bytes.data() + at, sizeof x);
        at += sizeof x;
        return x;
    }
    std::string value(const std::string& type) {
        if (type == "u8") return std::to_string(take<std::uint8_t>());
        if (type == "u32") return std::to_string(take<std::uint32_t>());
        if (type == "i32") return std::to_string(take<std::int32_t>());
        if (type == "u64") return std::to_string(take<std::uint64_t>());
        if (type == "i64") return std::to_string(take<std::int64_t>());
        if (type == "f32") return std::to_string(take<float>());
        if (type == "f64") return std::to_string(take<double>());
        const auto n = take<std::uint32_t>();
        if (type == "text") {
            BOOST_REQUIRE(at + n <= bytes.size());
            return std::string(bytes.substr(std::exchange(at, at + n), n));
        }
        BOOST_REQUIRE_MESSAGE(type.starts_with("list of "), type);
        std::string all;
        for (std::uint32_t i = 0; i < n; ++i) all += (i ? " " : "[") + value(type.substr(8));
        return all + "]";
    }
};
std::size_t size_of(const std::string& type) {   // of a text or list that is empty
    return type == "u8" ? 1 : type == "u64" || type == "i64" || type == "f64" ? 8 : 4;
}
std::string bytes_of(const std::string& type) {
    const auto n = std::to_string(size_of(type));
    if (type == "text") return n + " + n";
    if (type.starts_with("list of list")) return n + " + ...";
    if (type.starts_with("list of ")) return n + " + " + std::to_string(size_of(type.substr(8))) + "n";
    return n;
}

using fields = std::vector<std::pair<std::string, std::string>>;
std::map<std::string, bool> compared;

void compare(const std::string& table, std::string_view bytes, const fields& want) {
    BOOST_TEST_CONTEXT(table) {
        BOOST_REQUIRE(wire_page().tables.count(table) == 1);
        const auto& rows = wire_page().tables.at(table);
        compared[table] = true;
        walk w{bytes};
        std::size_t offset = 0;
        bool varies = false;
        BOOST_REQUIRE(rows.size() == want.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const row& r = rows[i];
            BOOST_TEST(r.offset == std::to_string(offset) + (varies ? "+" : ""));
            if (!varies) BOOST_TEST(w.at == offset);
            BOOST_TEST(r.bytes == bytes_of(r.type), r.name);
            BOOST_TEST(r.name == want[i].first);
            BOOST_TEST(w.value(r.type) == want[i].second, r.name);
            offset += size_of(r.type);
            varies = varies || r.type == "text" || r.type.starts_with("list");
        }
        BOOST_TEST(w.at == bytes.size());
    }
}
template <class Call>
void arguments(const Call& c, const fields& want) {
    compare(name_of(Call::id) + std::string(" argument"), encode(c), want);
}
template <class Call>
void answer(const typename Call::answer& a, const fields& want) {
    compare(name_of(Call::id) + std::string(" answer"), encode(a), want);
}
template <class Block>
void a_block(const char* name, const Block& b, std::size_t bytes, const fields& want) {
    std::string to(bytes, '\xee');
    b.encode(reinterpret_cast<std::byte*>(to.data()));
    compare(name, to, want);
}
std::string f(double x) { return std::to_string(x); }
/// Numbers by which a type shows: these are negative if they are signed.
constexpr std::uint64_t large(std::uint64_t n) { return ~std::uint64_t{0} - n; }
std::string u(std::uint64_t n) { return std::to_string(large(n)); }

about_server some_server() {
    return {1, large(2), large(3), large(4), large(5), -6, 200, {8, -9}, {large(10), copy_role::leading, true}};
}
const fields known_server{{"has_values", "1"}, {"sum", u(2)},      {"begins", u(3)}, {"lacks", u(4)},
                          {"incarnation", u(5)}, {"restored", "-6"}, {"open", "200"},  {"files", "[8 -9]"},
                          {"epoch", u(10)},    {"role", "2"},      {"followed", "1"}};
table_rows some_rows() {
    table_rows r;
    r.table = 1, r.first = -2, r.row_floats = 1, r.slots = 1, r.keys = {-5, 7}, r.steps = {3, 4};
    r.values = {1, 2, 3, 4};
    return r;
}
const fields known_rows{{"table", "1"},       {"first", "-2"},    {"row_floats", "1"}, {"slots", "1"},
                        {"keys", "[-5 7]"},   {"steps", "[3 4]"},
                        {"values", "[" + f(1) + " " + f(2) + " " + f(3) + " " + f(4) + "]"}};
} // namespace

BOOST_AUTO_TEST_CASE(tables_are_what_is_written) {
    using namespace sinter::parameter_servers::calls;
    arguments(join{-1, large(2), -3, -4, {large(5), 200, -7, -8, -9, {10, -11}, -12, -13, large(14)}},
              {{"clock", "-1"}, {"epoch", u(2)}, {"named_save", "-3"}, {"version", "-4"}, {"sum", u(5)},
               {"opened", "200"}, {"stop_clock", "-7"}, {"applied", "-8"}, {"step", "-9"}, {"files", "[10 -11]"},
               {"open_clock", "-12"}, {"open_step", "-13"}, {"openings", u(14)}});
    answer<join>(some_server(), known_server);
    arguments(rest{{-3, -4}}, {{"clocks", "-3"}, {"named_save", "-4"}});
    arguments(leave{{-5, -6}}, {{"clocks", "-5"}, {"named_save", "-6"}});
    arguments(wait_for_others{{-7, -8}}, {{"clocks", "-7"}, {"named_save", "-8"}});
    arguments(calls::open{-9, -1, 200, {2, -3}, large(4)},
              {{"max_steps", "-9"}, {"global_step", "-1"}, {"begins", "200"}, {"phase_steps", "[2 -3]"},
               {"number", u(4)}});
    answer<calls::open>({-4, -5}, {{"clock", "-4"}, {"step", "-5"}});
    arguments(begin_renewal{-6}, {{"version", "-6"}});
    arguments(end_renewal{-7}, {{"step", "-7"}});
    arguments(wait_for_renewal{-8}, {{"version", "-8"}});
    arguments(wait_for_clock{-9}, {{"clock", "-9"}});
    arguments(all_reduce{large(2), {0.5, -1}}, {{"number", u(2)}, {"numbers", "[" + f(0.5) + " " + f(-1) + "]"}});
    answer<all_reduce>({{1.5}}, {{"sums", "[" + f(1.5) + "]"}});
    arguments(restore_sums{large(3), {{}, {2.5}}}, {{"first", u(3)}, {"sums", "[] [" + f(2.5) + "]]"}});
    arguments(stop{"enough"}, {{"reason", "enough"}});
    arguments(fail{"it broke"}, {{"cause", "it broke"}});
    answer<get_phase_steps>({{1, -2}}, {{"steps", "[1 -2]"}});
    answer<get_stop_reason>({"worker/1: enough"}, {{"reason", "worker/1: enough"}});
    answer<get_counters>({"{}"}, {{"json", "{}"}});
    answer<find_non_finite>({{{-1, 2, 3, 4, 1.f}}}, {{"all", "[-1 2 3 4 1065353216]"}});
    arguments(read_rows{-1, -5}, {{"table", "-1"}, {"first", "-5"}});
    answer<read_rows>(some_rows(), known_rows);
    arguments(calls::put_rows{some_rows()}, known_rows);
    arguments(reset_table{-2}, {{"table", "-2"}});
    arguments(save_tables{"/a", "step-3"}, {{"folder", "/a"}, {"name", "step-3"}});
    answer<save_tables>({"full"}, {{"fault", "full"}});
    arguments(load_tables{{"/a", "step-3", 200}}, {{"folder", "/a"}, {"name", "step-3"}, {"slots", "200"}});
    arguments(checkpoint{"mine"}, {{"name", "mine"}});
    arguments(lead{large(4)}, {{"epoch", u(4)}});
    arguments(follow{{large(5), copy_role::following, false}}, {{"epoch", u(5)}, {"role", "1"}, {"followed", "0"}});
    arguments(exchange_norms{-3}, {{"shard", "-3"}});

    commit_block c;
    c.number = large(1), c.clock = -2, c.read_step = -3, c.pull = UINT32_MAX, c.version = -13, c.save = -14;
    c.info = {.loss = 4, .weight = 5, .examples = 6, .square_sum = 7, .states_count = 8, .rate = 9, .finite = true,
              .states_are_changes = false, .adds = true, .phase = 12};
    a_block("commit_block", c, c.bytes,
          {{"number", u(1)}, {"clock", "-2"}, {"read_step", "-3"}, {"loss", f(4)}, {"weight", f(5)}, {"examples", f(6)},
           {"square_sum", f(7)}, {"states_count", f(8)}, {"rate", f(9)}, {"pull", "4294967295"}, {"flags", "5"},
           {"phase", "12"}, {"version", "-13"}, {"save", "-14"}});
    a_block("section", section{section::rows, -4, -5, -6}, section::header,
          {{"kind", "2"}, {"table", "-4"}, {"first", "-5"}, {"count", "-6"}});
    answer_block a;
    a.info = {.global_step = -1, .clock = -2, .applied = -3, .loss = 5, .weight = 6, .examples = 7, .staleness = -4,
              .push = answer_info::fate::late};
    a.flags = UINT32_MAX, a.inline_bytes = UINT32_MAX, a.version = -11, a.stop_clock = -12, a.save_clock = -13;
    a.save = -14, a.files_clock = -15;
    a_block("answer_block", a, a.bytes,
          {{"global_step", "-1"}, {"clock", "-2"}, {"applied", "-3"}, {"staleness", "-4"}, {"loss", f(5)},
           {"weight", f(6)}, {"examples", f(7)}, {"push", "4"}, {"flags", "4294967295"},
           {"inline_bytes", "4294967295"}, {"zero", "0"},
           {"version", "-11"}, {"stop_clock", "-12"}, {"save_clock", "-13"}, {"save", "-14"}, {"files_clock", "-15"}});

    for (const auto& [name, rows] : wire_page().tables)
        BOOST_TEST(compared[name], "no bytes are compared with " + name);
}

/// Calls of a list have a heading, and a table where they write something; answers likewise.
template <class Call>
void on_the_page(std::map<int, std::string>& left) {
    const std::string name = name_of(Call::id);
    BOOST_TEST_CONTEXT(name) {
        BOOST_TEST(left[static_cast<int>(Call::id)] == name);
        left.erase(static_cast<int>(Call::id));
        BOOST_TEST((wire_page().tables.count(name + " argument") == 1) == !encode(Call()).empty());
        if constexpr (requires { typename Call::answer; }) {
            using answer = typename Call::answer;
            const auto as = wire_page().answered_as.find(name);
            const bool shared = as != wire_page().answered_as.end();
            if (shared)
                BOOST_TEST(as->second == (std::is_same_v<answer, calls::opening> ? "open" : "join"));
            BOOST_TEST((shared || wire_page().tables.count(name + " answer") == 1) == !encode(answer()).empty());
        }
    }
}
template <class... Calls>
void all_on_the_page(call_list<Calls...>, std::map<int, std::string>& left) {
    (on_the_page<Calls>(left), ...);
}
BOOST_AUTO_TEST_CASE(every_call_is_on_the_page) {
    std::map<int, std::string> left = wire_page().calls;
    BOOST_TEST(left.size() == last_call);
    all_on_the_page(worker_calls(), left);
    all_on_the_page(copy_calls(), left);
    BOOST_TEST(left.empty());
}

/// Any arguments that are cut short or longer than they should be are refused.
template <class Call>
void whole(const Call& c) {
    const std::string bytes = encode(c);
    BOOST_TEST_CONTEXT(name_of(Call::id)) {
        BOOST_TEST(encode(decode<Call>(as_bytes(bytes))) == bytes);
        for (std::size_t n = 0; n < bytes.size(); ++n)
            BOOST_CHECK_THROW(decode<Call>(as_bytes(bytes.substr(0, n))), format_error);
        BOOST_CHECK_THROW(decode<Call>(as_bytes(bytes + '\0')), format_error);
    }
}
BOOST_AUTO_TEST_CASE(what_is_cut_short_or_out_of_range_is_refused) {
    using namespace sinter::parameter_servers::calls;
    whole(join{1, 2, 3, 4, {5, 6, 7, 8, 9, {10, 11}, 12, 13}});
    whole(rest{{3, 4}}), whole(join_resting()), whole(calls::open{9, -1, 1, {2, 3}}), whole(all_reduce{2, {0.5, -1}});
    whole(restore_sums{3, {{}, {2.5}}}), whole(stop{"enough"}), whole(calls::put_rows{some_rows()});
    whole(load_tables{{"/a", "step-3", 0}}), whole(follow{{5, copy_role::following, false}});

    const auto refused = [](const auto& c) {
        using call = std::remove_cvref_t<decltype(c)>;
        BOOST_CHECK_THROW(decode<call>(as_bytes(encode(c))), format_error);
    };
    const std::int64_t huge = INT64_MAX;
    refused(join{-1}), refused(join{huge}), refused(join{0, 0, -1}), refused(join{0, 0, 0, -1});
    refused(join{0, 0, 0, 0, {.sum = 0}}), refused(join{0, 0, 0, 0, {.stop_clock = -2}});
    refused(join{0, 0, 0, 0, {.files = {0}}}), refused(join{0, 0, 0, 0, {.open_clock = -1}});
    refused(rest{{-1, 0}}), refused(leave{{0, huge}}), refused(wait_for_others{{-1, 0}}), refused(wait_for_clock{-1});
    refused(calls::open{-1}), refused(calls::open{0, -2}), refused(calls::open{0, 0, 1, {-1}});
    refused(calls::open{0, 0, 1, std::vector<std::int64_t>(most_phases + 1)});
    refused(begin_renewal{-1}), refused(end_renewal{-1}), refused(wait_for_renewal{-1});
    refused(all_reduce()), refused(restore_sums()), refused(all_reduce{~std::uint64_t{0}});
    refused(stop{std::string(most_reason + 1, 'x')}), refused(fail{std::string(most_reason + 1, 'x')});
    refused(read_rows{-1}), refused(reset_table{-1}), refused(exchange_norms{-1});
    refused(checkpoint{std::string(most_path + 1, 'x')}), refused(save_tables{std::string(most_path + 1, 'x')});
    refused(follow{{0, static_cast<copy_role>(4)}});
    for (int wrong = 0; wrong < 4; ++wrong) {
        calls::put_rows r{some_rows()};
        if (wrong == 0) r.steps.pop_back();
        if (wrong == 1) r.values.pop_back();
        if (wrong == 2) r.slots = -1;
        if (wrong == 3) r.row_floats = 2;
        refused(r);
    }
    // A list that says that it is longer than a frame: nothing is allocated for it.
    wire::archive_writer w;
    w & std::uint64_t{1} & UINT32_MAX;
    BOOST_CHECK_THROW(decode<all_reduce>(as_bytes(w.bytes())), format_error);
    bool seen = false;
    BOOST_TEST(!worker_calls::visit(call_id{}, {}, [&](const auto&) { seen = true; }));
    BOOST_TEST(!worker_calls::visit(call_id::lead, {}, [&](const auto&) { seen = true; }));
    BOOST_TEST(!worker_calls::visit(call_id{last_call + 1}, {}, [&](const auto&) { seen = true; }));
    BOOST_TEST(!seen);
    BOOST_TEST(worker_calls::visit(call_id::save_together, {}, [&](const auto&) { seen = true; }));
    BOOST_TEST(seen);
}
