// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>
#include <vector>

/// Trains a net for ten steps on one batch of random numbers, of whatever inputs and targets it has.
namespace sinter::zoo {
using namespace compiler;

class one_batch {
public:
    one_batch(const view<const port_info>& inputs, const view<const port_info>& targets, int size) {
        for (const port_info& p : inputs) add(p, size, inputs_);
        for (const port_info& p : targets) add(p, size, targets_);
        view_.size = size;
        view_.inputs = inputs_;
        view_.targets = targets_;
    }
    const data::batch_view& view_of_it() const { return view_; }

private:
    std::vector<std::vector<float>> numbers_;
    std::vector<std::vector<std::int32_t>> whole_;
    std::vector<data::input_view> inputs_, targets_;
    data::batch_view view_;
    random_stream random_{7};

    /// Integers from 1: where 0 is a blank, it is no label.
    void add(const port_info& p, int size, std::vector<data::input_view>& to) {
        const std::size_t n = static_cast<std::size_t>(p.s.size()) * static_cast<std::size_t>(size);
        if (p.s.type == dtype::i32) {
            std::vector<std::int32_t>& x = whole_.emplace_back(n);
            for (std::int32_t& v : x)
                v = 1 + static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(p.below - 1)));
            to.push_back({nullptr, x.data(), static_cast<int>(p.s.size())});
        } else {
            std::vector<float>& x = numbers_.emplace_back(n);
            for (float& v : x) v = 2 * random_.uniform() - 1;
            to.push_back({x.data(), nullptr, static_cast<int>(p.s.size())});
        }
    }
};

/// The losses before each step and after the last. The seed is a trainer's default one.
template <int Batch, class Net, class Loss, class Optimizer>
std::vector<float> losses_of_ten_steps(Net, Loss, Optimizer optimizer, int threads = 1) {
    using model = trainer<Net, Loss, Optimizer, Batch>;
    model m(optimizer, {.threads = threads});
    constexpr auto& p = model::training::v;
    const one_batch batch({p.inputs, p.n_inputs}, {p.targets, p.n_targets}, Batch);
    std::vector<float> losses;
    for (int i = 0; i < 11; ++i) losses.push_back(m.step(batch.view_of_it()));
    return losses;
}

/// Ten steps bring the loss down, to no more than `share` of what it was, and two threads give the same bits as one.
template <int Batch, class Net, class Loss, class Optimizer>
void check_ten_steps(Net net, Loss loss, Optimizer optimizer, float share) {
    const std::vector<float> l = losses_of_ten_steps<Batch>(net, loss, optimizer);
    for (const float x : l) BOOST_TEST(std::isfinite(x));
    BOOST_TEST(l.back() < share * l.front());
    BOOST_TEST(l == losses_of_ten_steps<Batch>(net, loss, optimizer, 2), boost::test_tools::per_element());
}

} // namespace sinter::zoo
