// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/posix_thread.hpp>

using namespace sinter;

namespace {
/// A number that threads count up, and one that waits for it.
class counter {
public:
    void add() SINTER_EXCLUDES(mutex_) {
        const base::mutex_lock hold(mutex_);
        ++n_;
        changed_.notify_all();
    }
    void add_but_for_a_moment() SINTER_EXCLUDES(mutex_) {
        base::mutex_lock hold(mutex_);
        ++n_;
        hold.unlock();
        hold.lock();
        changed_.notify_all();
    }
    long wait_until(long n) SINTER_EXCLUDES(mutex_) {
        const base::mutex_lock hold(mutex_);
        changed_.wait(mutex_, [&]() SINTER_REQUIRES(mutex_) { return n_ >= n; });
        return n_;
    }
    /// Throws without the mutex, under which it was called.
    void fail() SINTER_EXCLUDES(mutex_) {
        const base::mutex_lock hold(mutex_);
        throw_without_it();
    }
    bool is_free() {
        if (!mutex_.try_lock()) return false;
        mutex_.unlock();
        return true;
    }
    bool is_free_while_held_elsewhere() SINTER_EXCLUDES(mutex_) {
        const base::mutex_lock hold(mutex_);
        bool free = true;
        base::posix_thread([&] { free = is_free(); }).join();
        return free;
    }
    void wait_a_moment() SINTER_EXCLUDES(mutex_) {
        const base::mutex_lock hold(mutex_);
        changed_.wait_for(mutex_, 1e-4);
        ++n_;
    }

private:
    base::mutex mutex_;
    base::condition changed_;
    long n_ SINTER_GUARDED_BY(mutex_) = 0;

    void throw_without_it() SINTER_REQUIRES(mutex_) {
        const base::mutex_release away(mutex_);
        if (is_free()) throw 1;
    }
};
} // namespace

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_has_it) {
    counter c;
    constexpr long each = 20'000;
    base::posix_thread a([&] {
        for (long i = 0; i < each; ++i) c.add();
    });
    base::posix_thread b([&] {
        for (long i = 0; i < each; ++i) c.add_but_for_a_moment();
    });
    BOOST_TEST(c.wait_until(2 * each) == 2 * each);
    a.join();
    b.join();
    BOOST_TEST(!c.is_free_while_held_elsewhere());
    BOOST_TEST(c.is_free());
}
BOOST_AUTO_TEST_CASE(it_is_held_again_and_let_go_once_where_an_exception_passes) {
    counter c;
    BOOST_CHECK_THROW(c.fail(), int);
    BOOST_TEST(c.is_free());
    c.wait_a_moment();
    BOOST_TEST(c.is_free());
    BOOST_TEST(c.wait_until(1) == 1);
}
