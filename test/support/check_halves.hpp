// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "support/check_buckets.hpp"

/// A step in two halves under each policy against fused steps.
namespace sinter::test {
using namespace compiler;

template <class Net, class Loss, class Optimizer, int Batch, program_options O>
using halved_program = compiled<request<Net, Loss, Optimizer, program_mode::training, Batch, cpu_device::target, O>>;

/// `Exact`: are all sums, those of a norm over all gradients among them, taken in the order that the fused program has?
template <program_options O, bool Exact, int Batch, class Net, class Loss, class Optimizer, class Trainer>
void step_in_halves(Net, Loss, Optimizer o, const Trainer& first, const Trainer& fused, int steps, const char* what) {
    using P = halved_program<Net, Loss, Optimizer, Batch, O>;
    constexpr program_segments s = P::v.segments;
    BOOST_TEST(0 < s.first_change);
    BOOST_TEST((s.first_change <= s.first_update || s.first_change == P::v.n_launches));
    for (int i = 0; i < P::v.n_launches; ++i) {   // updates come from no node and stand last; gathering is no update
        const launch& l = P::v.launches[i];
        if (i >= s.first_update)
            BOOST_TEST((l.root < 0 && l.every == batches_of<Optimizer>()), what << ": launch " << i);
        else BOOST_TEST((l.root >= 0 || (batches_of<Optimizer>() > 1 && l.every == 1)), what << ": launch " << i);
    }
    half_steps<P, Optimizer> halves(first, o, 2), whole(first, o, 1);
    for (int i = 0; i < steps; ++i) {
        const random_batch<P> b(static_cast<std::uint64_t>(i), i % 3 == 2 ? Batch - 2 : Batch);
        if (O.policy() == gradient_policy::reduced) check_final(halves, b.view(), what);
        else BOOST_TEST(halves.gradients(b.view()));
        halves.update();
        whole.step(b.view());
    }
    BOOST_TEST(halves.difference(whole) == 0, what << ": halves and whole steps differ");
    if (Exact) BOOST_TEST(halves.equals(fused), what);
    else BOOST_TEST(halves.difference(fused) < 1e-6, what);
    if constexpr (O.policy() == gradient_policy::reduced) {
        BOOST_TEST(P::v.n_buckets > 1);
        check_partition<P>(what);
        check_addresses<P>(what);
    } else {
        BOOST_TEST(P::v.n_buckets == 0);
    }
}
template <bool SumsInOrder = true, int Batch = 5, class Net, class Loss, class Optimizer>
void every_policy(Net net, Loss loss, Optimizer o, const char* what) {
    using trainer_type = trainer<Net, Loss, Optimizer, Batch>;
    constexpr int steps = 7;
    const trainer_type first(o, {.threads = 1});
    trainer_type fused(o, {.threads = 1});
    for (int i = 0; i < steps; ++i)
        fused.step(random_batch<typename trainer_type::training>(static_cast<std::uint64_t>(i),
                                                                 i % 3 == 2 ? Batch - 2 : Batch).view());
    step_in_halves<program_options{}, true, Batch>(net, loss, o, first, fused, steps, what);
    step_in_halves<program_options{.gradients = gradient_policy::stored}, true,
                   Batch>(net, loss, o, first, fused, steps, what);
    step_in_halves<program_options{.gradients = gradient_policy::reduced, .bucket_bytes = 256}, SumsInOrder,
                   Batch>(net, loss, o, first, fused, steps, what);
}

} // namespace sinter::test
