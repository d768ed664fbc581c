// SPDX-License-Identifier: BSL-1.0
// shows elastic: impossible lengths and kinds from a member: an error before memory is taken
#define BOOST_TEST_MODULE elastic_lengths
#include <boost/test/unit_test.hpp>
#include <sinter/base/span.hpp>
#include <sinter/collective/validated_gather.hpp>
#include <sinter/strategy/elastic/slot_record.hpp>
#include <sinter/strategy/elastic/result_header.hpp>
#include <functional>

// What members of an elastic job tell of themselves and of what follows, where one of them says what cannot be: an
// error that names the member, what it was about, what it said and what it could have said.
using namespace sinter;
using namespace sinter::collective;

namespace {

/// Member 0 of three. The others have the same as it, but for what `lie(slot of member 2)` makes of the last one's.
class two_others final : public communicator {
public:
    explicit two_others(std::function<void(std::byte*)> lie) : lie_(std::move(lie)) {}
    int rank() const override { return 0; }
    int size() const override { return 3; }
    ticket start(const operation& o, void* data, std::int64_t n, bool) override {
        BOOST_TEST((o.what == kind::all_gather_rows));
        auto* const slots = static_cast<std::byte*>(data);
        for (int r : {1, 2}) std::memcpy(slots + r * n, slots, static_cast<std::size_t>(n));
        lie_(slots + 2 * n);
        return 1;
    }
    void wait(ticket) override {}
    void check() override {}
    void fail(std::string_view) noexcept override {}

private:
    std::function<void(std::byte*)> lie_;
};
template <class F>
std::string said(F f) {
    try {
        f();
    } catch (const cluster_error& e) {
        return std::to_string(e.rank()) + " | " + e.operation() + " | " + e.cause();
    }
    return "nothing";
}
template <class T>
std::function<void(std::byte*)> puts(T x, std::size_t at) {
    return [=](std::byte* slot) { std::memcpy(slot + at, &x, sizeof x); };
}

} // namespace

BOOST_AUTO_TEST_CASE(one_of_each_member) {
    two_others honest([](std::byte*) {});
    BOOST_TEST((all_gather_value(honest, std::uint64_t{7}, "a test") == std::vector<std::uint64_t>{7, 7, 7}));
    for (const std::int64_t bytes : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, std::int64_t{9},
                                     std::int64_t{1} << 60}) {
        two_others lies(puts(bytes, 0));
        BOOST_TEST(said([&] { all_gather_value(lies, std::uint64_t{7}, "a test"); }) ==
                   "2 | a test | it sent " + std::to_string(bytes) + " bytes; expected 8");
    }
}
BOOST_AUTO_TEST_CASE(records_of_slots) {
    using sinter::strategy_parts::slot_record;
    const slot_record good{.done = 5, .healed = 1, .stage = 2, .has = {{3, 1, 4}, {2, 0, 1}}};
    BOOST_TEST(said([&] { need_record(good, 1, 4); }) == "nothing");
    const auto wrong = [&](auto change, const std::string& text) {
        slot_record r = good;
        change(r);
        BOOST_TEST(said([&] { need_record(r, 1, 4); }) == "1 | telling who has which slots | it sent " + text);
    };
    wrong([](slot_record& r) { r.done = -1; }, "-1 operations; expected 0 to 1152921504606846976");
    wrong([](slot_record& r) { r.healed = 2; }, "2 as whether it is healed; expected 0 to 1");
    wrong([](slot_record& r) { r.stage = 3; }, "3 as its stage; expected 0 to 2");
    wrong([](slot_record& r) { r.has[0].epoch = -4; }, "-4 as an epoch; expected 0 to 1152921504606846976");
    wrong([](slot_record& r) { r.has[1].members = 0; }, "0 members; expected 1 to 4");   // a division by it
    wrong([](slot_record& r) { r.has[0].members = 1 << 30; }, "1073741824 members; expected 1 to 4");
    wrong([](slot_record& r) { r.has[0].member = 4; }, "4 as its number; expected 0 to 3");
    wrong([](slot_record& r) { r.has[1].member = -1; }, "-1 as its number; expected 0");
}
BOOST_AUTO_TEST_CASE(results) {
    using sinter::strategy_parts::result_header;
    using enum sinter::strategy_parts::result_kind;
    const auto of = [](result_header t, sinter::strategy_parts::result_kind needed) {
        return said([&] { need_result(t, 2, needed, {.image = 400, .least = 16, .most = 24}, 9); });
    };
    const std::string head = "2 | giving a result to those that lack it | it sent ";
    BOOST_TEST(of({.made_in = 9, .bytes = 400, .kind = step}, step) == "nothing");
    BOOST_TEST(of({.made_in = 9, .bytes = 16, .kind = bytes}, bytes) == "nothing");
    BOOST_TEST(of({.kind = none}, none) == "nothing");
    BOOST_TEST(of({.bytes = 401, .kind = weights}, weights) == head + "401 bytes; expected 400");
    BOOST_TEST(of({.bytes = 1ll << 50, .kind = bytes}, bytes) == head + "1125899906842624 bytes; expected 16 to 24");
    BOOST_TEST(of({.bytes = -1, .kind = none}, none) == head + "-1 bytes; expected 0");
    BOOST_TEST(of({.bytes = 400, .kind = weights}, step) == head + "2 as its kind; expected 1");
    BOOST_TEST(of({.made_in = 10, .bytes = 400, .kind = step}, step) == head + "10 as its epoch; expected 0 to 9");
    const step_result made{.loss = 3, .applied = false, .stop = true, .examples = 12, .loss_weight = 11, .passed = true,
                           .global_step = 5};
    result_header t;
    t.set(made);
    const step_result r = t.step();
    BOOST_TEST((r.loss == 3 && !r.applied && r.stop && !r.save && r.examples == 12 && r.loss_weight == 11 && r.passed &&
                !r.join && r.global_step == 5));
}
