// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE signals
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/blocked_signals.hpp>
#include <sinter/base/os/restored_signal.hpp>
#include <sinter/base/os/signal_handler.hpp>
#include <algorithm>

using namespace sinter::base;

namespace {

volatile std::sig_atomic_t seen = 0, details = 0;
void note(int number) { seen = number; }
void note_details(int, siginfo_t*, void*) { details = 1; }

BOOST_AUTO_TEST_CASE(a_handler_for_a_while) {
    struct sigaction with_details {}, now {}, before {};
    with_details.sa_sigaction = &note_details;
    with_details.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGUSR2, &with_details, &before);
    {
        const os::restored_signal restored(SIGUSR2);
        os::handle_signal(SIGUSR2, &note);
        ::raise(SIGUSR2);
        BOOST_TEST(seen == SIGUSR2);
        BOOST_TEST(details == 0);
        os::restore_default(SIGUSR2);
        ::sigaction(SIGUSR2, nullptr, &now);
        BOOST_TEST((now.sa_handler == SIG_DFL));
    }
    ::raise(SIGUSR2);   // as it was, with its flags
    BOOST_TEST(details == 1);
    ::sigaction(SIGUSR2, &before, &now);
    BOOST_TEST((now.sa_flags & SA_NODEFER) != 0);
}
BOOST_AUTO_TEST_CASE(blocked_ones_come_later) {
    const os::restored_signal restored(SIGUSR1);
    os::handle_signal(SIGUSR1, &note);
    seen = 0;
    {
        const os::blocked_signals blocked;
        ::raise(SIGUSR1);
        BOOST_TEST(seen == 0);
    }
    BOOST_TEST(seen == SIGUSR1);
}
BOOST_AUTO_TEST_CASE(by_which_a_program_is_asked_to_end) {
    for (const int number : {SIGINT, SIGTERM, SIGUSR1})
        BOOST_TEST((std::ranges::find(os::asks_to_end, number) != std::end(os::asks_to_end)));
}

} // namespace
