// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/synchronous/list_exchange.hpp>

// A list from another member is one that a slot has room for, whatever its head says.
using namespace sinter;

BOOST_AUTO_TEST_CASE(a_list_longer_than_its_slot_is_refused) {
    constexpr int members = 2, most = 3, width = 2;
    strategy_parts::list_exchange lists(1, members, most, 9, width, false);
    const auto put = [&](int r, int n) {
        std::byte* const slot = static_cast<std::byte*>(lists.slots()) + r * lists.slot_bytes();
        const collective::row_slot head{4 * (list_header + n * (1 + width))};
        std::memcpy(slot, &head, sizeof head);
        std::memcpy(slot + sizeof head, &n, sizeof n);
        for (int k = 0; k < n; ++k) std::memcpy(slot + sizeof head + 4 * (list_header + k), &k, sizeof k);
    };
    put(0, 3), put(1, 2);
    BOOST_TEST(lists.join_members().size() == 3);
    for (const auto& [r, n] : {std::pair{0, 4}, {1, 5}}) {   // fewer than the joined list may have
        put(0, 3), put(1, 2), put(r, n);
        BOOST_CHECK_THROW(lists.join_members(), data_error);
    }
}
