// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE posix_thread
#include <boost/test/unit_test.hpp>

#include <sinter/base/os/posix_mutex.hpp>
#include <sinter/base/os/posix_thread.hpp>

#include <memory>
#include <vector>

using sinter::base::posix_thread;

BOOST_AUTO_TEST_CASE(calls_its_function_once_and_can_be_joined) {
    int ran = 0;
    pthread_t where = ::pthread_self();
    posix_thread t([&] { ++ran, where = ::pthread_self(); });
    BOOST_TEST(t.joinable());
    t.join();
    BOOST_TEST(!t.joinable());
    BOOST_TEST(ran == 1);
    BOOST_TEST(!::pthread_equal(where, ::pthread_self()));
    BOOST_TEST(!posix_thread().joinable());
}

BOOST_AUTO_TEST_CASE(moves_what_it_is_given_and_itself) {
    auto number = std::make_unique<int>(41);
    int seen = 0;
    posix_thread first([own = std::move(number), &seen] { seen = *own + 1; });
    posix_thread second(std::move(first));
    BOOST_TEST(!first.joinable());
    first = std::move(second);
    BOOST_TEST(!second.joinable());
    first.join();
    BOOST_TEST(seen == 42);
}

BOOST_AUTO_TEST_CASE(where_the_system_grants_none_says_so) {
#if defined(__GLIBC__)
    pthread_attr_t usual, huge;
    BOOST_REQUIRE(::pthread_getattr_default_np(&usual) == 0);
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 60);   // more than there are addresses
    BOOST_REQUIRE(::pthread_setattr_default_np(&huge) == 0);
    const auto called = std::make_shared<int>(0);
    BOOST_CHECK_EXCEPTION(posix_thread([called] { ++*called; }), sinter::device_error,
                          [](const sinter::device_error& e) { return e.where() == "thread" && !e.got().empty(); });
    ::pthread_setattr_default_np(&usual);
    BOOST_TEST(*called == 0);
    BOOST_TEST(called.use_count() == 1);   // the function was destroyed
    ::pthread_attr_destroy(&usual);
    ::pthread_attr_destroy(&huge);
#endif
}

BOOST_AUTO_TEST_CASE(many_at_once) {
    std::vector<int> ran(50);
    std::vector<posix_thread> all;
    for (int& r : ran) all.emplace_back([&r] { r = 1; });
    for (posix_thread& t : all) t.join();
    for (int r : ran) BOOST_TEST(r == 1);
}

BOOST_AUTO_TEST_CASE(one_of_them_has_a_mutex) {
    sinter::base::posix_mutex m;
    int within = 0, most = 0, times = 0;   // data races, without it
    std::vector<posix_thread> all;
    for (int i = 0; i < 4; ++i)
        all.emplace_back([&] {
            for (int k = 0; k < 10'000; ++k) {
                const sinter::base::posix_mutex::guard held(m);
                if (++within > most) most = within;
                ++times;
                --within;
            }
        });
    for (posix_thread& t : all) t.join();
    BOOST_TEST(most == 1);
    BOOST_TEST(times == 40'000);
}
