// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>

// What a device is, as device/device.hpp has it: the processor is one, one derived of it is, and
// whatever lacks a part is not.
using namespace sinter;
using namespace sinter::runtime;

namespace {
constexpr auto net = features<3> >> dense<2>;
using program = trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 4>::training;

struct derived : cpu_device {
    using cpu_device::cpu_device;
};
struct without_target : cpu_device {
    using cpu_device::cpu_device;
    static constexpr const char* target = "processor";
};
struct with_other_read : cpu_device {
    using cpu_device::cpu_device;
    void read(const model_memory&, float*) const {}
};
struct without_events : cpu_device {
    using cpu_device::cpu_device;
    void record() const {}
};
struct from_a_number : cpu_device {
    explicit from_a_number(double) : cpu_device(1) {}
};
template <class P>
struct runner_without_bind {
    static constexpr std::int64_t scratch_floats() { return 0; }
};
struct without_bind : cpu_device {
    using cpu_device::cpu_device;
    template <class P>
    using runner = runner_without_bind<P>;
};
} // namespace

static_assert(compute_device<cpu_device> && compute_device<derived>);
static_assert(!compute_device<int> && !compute_device<without_target> && !compute_device<with_other_read> &&
              !compute_device<without_events> && !compute_device<from_a_number>);
static_assert(runs_program<cpu_device, program> && runs_program<derived, program> &&
              !runs_program<without_bind, program>);

BOOST_AUTO_TEST_CASE(options_become_devices) {
    BOOST_TEST(cpu_device(with_threads<cpu_device>({}, 2)).threads() == 2);
    BOOST_TEST(cpu_device(with_threads<cpu_device>({.threads = 3}, 0)).threads() == 3);   // 0: as the options say
    BOOST_TEST(cpu_device(with_threads<cpu_device>({.threads = 3}, 1)).threads() == 1);
    BOOST_CHECK_THROW(cpu_device(cpu_device::options{.threads = -1}), option_error);
}

BOOST_AUTO_TEST_CASE(what_was_written_is_read) {
    cpu_device d(cpu_device::options{.threads = 1});
    model_memory m;
    m.parameters = arena(32);
    const float in[3] = {1, 2, 3};
    d.write(m, {space::parameter, 16}, in, 3);
    d.record().wait();
    float out[3] = {}, scratch[3] = {};
    d.read(m, {space::parameter, 16}, out, 3);
    BOOST_TEST(out == in, boost::test_tools::per_element());
    BOOST_TEST(d.host_view(m, {space::parameter, 16}, scratch, 3)[2] == 3.f);
    m.parameters.clear();
    d.read(m, {space::parameter, 16}, out, 3);
    BOOST_TEST(out[0] == 0.f);
}
