// SPDX-License-Identifier: BSL-1.0
// shows members: members on several hosts under `canonical<4>` and `hierarchical` have the bits of one device
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE hierarchical_strategy
#include "net/processes.hpp"
#include "support/points.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/collective/hierarchical.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/multi_worker.hpp>

// Training by members on two hosts: canonical<4> has the bits of one device, wherever the members are; also where those
// of a host do not follow each other, or hosts have unlike numbers of them.
using namespace sinter;

namespace {

constexpr auto net = features<2> >> dense<1500> >> relu >> dense<2>;   // buckets longer than what goes by TCP alone

template <class Strategy>
std::string trained(const Strategy& s) {
    estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, max_batch<16>, canonical<4>(s),
                    {.threads = 1}};
    auto data = sinter::test::points(200, 3) | data::batch(16);
    model.train(data, {.max_steps = 26, .progress = nullptr});
    const std::vector<std::byte> file = save_to_memory(model.inner());
    return to_text({model.inner().steps(), " steps, file ",
                   base::fnv1a({reinterpret_cast<const char*>(file.data()), file.size()})});
}

} // namespace

BOOST_AUTO_TEST_CASE(the_bits_of_one_device) {
    std::string wanted;
    {
        processes alone;   // what follows forks
        alone.start([] { return trained(single<cpu_device>{}); });
        wanted = alone.result(0);
    }
    BOOST_TEST(wanted.starts_with("26 steps, "), wanted);
    for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}}) {
        const auto of_host = own_addresses(2);
        std::vector<std::string> at;
        for (std::size_t r = 0; r < hosts.size(); ++r) {
            const std::string& host = of_host[static_cast<std::size_t>(hosts[r])];
            at.push_back(host.substr(0, host.find(':')) + ":" + std::to_string(8100 + r));
        }
        processes job;
        for (int r = 0; r < static_cast<int>(at.size()); ++r)
            job.start([=] { return trained(multi_worker<hierarchical>{cluster::of(at, r, quick(30))}); });
        for (int r = 0; r < static_cast<int>(at.size()); ++r) {
            const std::string got = job.result(r, 120);
            BOOST_TEST(got == wanted, "member " << r << " of " << at.size() << ": " << got);
        }
    }
}
