// SPDX-License-Identifier: BSL-1.0
// shows network: a sum that is damaged after the wire's check, on one member or on all alike
#include <boost/test/unit_test.hpp>
#include "support/members.hpp"
#include <bit>
#include <random>
#include <sinter/collective/checked_communicator.hpp>
#include <sinter/collective/thread_group.hpp>

// Sums that are damaged where no checksum looks: in the memory of a result. The damage is done by a communicator that
// stands between the check and the one that sums.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

namespace {

/// Changes element `at` of the result of bucket `bucket`, on the members that `on` names.
class damaging final : public communicator {
public:
    damaging(communicator& c, std::vector<int> on, int bucket, std::int64_t at, void (*damage)(float&))
        : c_(c), on_(std::move(on)), bucket_(bucket), at_(at), damage_(damage) {}
    int rank() const override { return c_.rank(); }
    int size() const override { return c_.size(); }
    ticket start(const operation& o, void* data, std::int64_t n, bool more) override {
        const ticket t = c_.start(o, data, n, more);
        const bool here = std::find(on_.begin(), on_.end(), rank()) != on_.end();
        if (here && o.bucket == bucket_ && o.type == element::f32) wanted_ = t, of_ = static_cast<float*>(data);
        return t;
    }
    void wait(ticket t) override {
        c_.wait(t);
        if (of_ && wanted_ <= t) damage_(std::exchange(of_, nullptr)[at_]);
    }
    void check() override { c_.check(); }
    void fail(std::string_view cause) noexcept override { c_.fail(cause); }

private:
    communicator& c_;
    std::vector<int> on_;
    int bucket_;
    std::int64_t at_;
    void (*damage_)(float&);
    ticket wanted_ = 0;
    float* of_ = nullptr;
};

/// What each member's waits throw in a step of three buckets.
std::vector<std::string> run(int members, std::vector<int> on, std::int64_t at, void (*damage)(float&),
                             std::int64_t step = 300, double scale = 1, kind how = kind::all_reduce) {
    thread_group group(members);
    std::vector<std::string> said(static_cast<std::size_t>(members));
    on_members(members, [&](int r) {
        checked_communicator c(std::make_unique<damaging>(group.member(r), on, 1, at, damage), 100);
        std::mt19937 random(static_cast<unsigned>(r + 1));
        std::normal_distribution<double> normal(0, scale);
        std::vector<std::vector<float>> x(3, std::vector<float>(5000));
        for (auto& v : x)
            for (float& f : v) f = static_cast<float>(normal(random));
        std::vector<ticket> tickets;
        try {
            for (int b = 0; b < 3; ++b)
                tickets.push_back(c.start({.what = how, .step = step, .bucket = b},
                                          x[static_cast<std::size_t>(b)].data(), 5000, b < 2));
            for (const ticket t : tickets) c.wait(t);
        } catch (const data_error& e) {
            said[static_cast<std::size_t>(r)] = e.what();
        }
    });
    return said;
}
void flip_exponent(float& x) { x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ 1u << 25); }
void flip_sign(float& x) { x = -x; }
void to_nan(float& x) { x = std::numeric_limits<float>::quiet_NaN(); }
void add_a_bit(float& x) { x += 0.1f; }
void nothing(float&) {}

} // namespace

BOOST_AUTO_TEST_CASE(damaged_results_are_found_on_all_members) {
    for (void (*damage)(float&) : {&flip_exponent, &flip_sign, &to_nan, &add_a_bit})
        for (const int members : {2, 3, 4})
            for (const std::int64_t at : {0, 63, 64, 4999}) {
                const auto said = run(members, {1}, at, damage);
                for (const std::string& s : said) {
                    BOOST_TEST(s.find("a sum over members is not the sum of what they had") != s.npos, s);
                    BOOST_TEST(s.find("bucket 1") != s.npos, s);
                    BOOST_TEST(s.find("step 300") != s.npos, s);
                    BOOST_TEST(s.find("on rank 1;") != s.npos, s);
                }
            }
    // All alike, which comparing the members' weights could not show.
    for (const std::string& s : run(3, {0, 1, 2}, 7, &flip_exponent))
        BOOST_TEST(s.find("on rank 0, 1, 2;") != s.npos, s);
    for (const std::string& s : run(4, {2}, 7, &flip_exponent, 300, 1, kind::all_reduce_tree))
        BOOST_TEST(s.find("on rank 2;") != s.npos, s);
}
BOOST_AUTO_TEST_CASE(what_is_right_passes) {
    for (const double scale : {1e-20, 1e-3, 1., 1e10, 1e35})
        for (const int members : {1, 2, 3, 8})
            for (int repeat = 0; repeat < 5; ++repeat)
                for (const std::string& s : run(members, {}, 0, &nothing, 100 * repeat, scale)) BOOST_TEST(s == "");
    // Between the steps that are checked nothing is.
    for (const std::string& s : run(3, {1}, 0, &flip_exponent, 301)) BOOST_TEST(s == "");
}
BOOST_AUTO_TEST_CASE(what_was_not_finite_before_is_no_damage) {
    thread_group group(2);
    on_members(2, [&](int r) {
        checked_communicator c(std::make_unique<damaging>(group.member(r), std::vector<int>{}, 0, 0, &nothing), 1);
        std::vector<float> x(100, r == 0 ? std::numeric_limits<float>::infinity() : 1.f);
        c.wait(c.start({.what = kind::all_reduce, .bucket = 0}, x.data(), 100, false));
        std::vector<float> none;
        c.wait(c.start({.what = kind::all_reduce, .bucket = 0}, none.data(), 0, false));
    });
}
