// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/sinter.hpp>

#include "cuda/rehearsal.hpp"

/// Nets trained by the CPU's kernels and by those for GPUs, which the host runs, side by side.
namespace sinter::test {

inline bool close(float a, float b) {
    return std::abs(a - b) <= 2e-4f * (1.f + std::abs(a)) || (std::isnan(a) && std::isnan(b));
}

/// Three steps, of batches of different sizes, then evaluation and prediction, on both devices.
template <int MaxBatch, program_options O = program_options{}, class Net, class Loss, class Optimizer>
void as_on_cpu(Net, Loss, Optimizer optimizer, const data::batch_view& whole) {
    trainer<Net, Loss, Optimizer, build_options{MaxBatch, O}> a(optimizer, {.threads = 1});
    trainer<Net, Loss, Optimizer, build_options{MaxBatch, O}, single<rehearsal_device>> b(optimizer);
    data::batch_view batch = whole;
    for (int step = 0; step < 3; ++step) {
        batch.size = step == 1 ? (MaxBatch + 1) / 2 : MaxBatch;
        const float la = a.step(batch), lb = b.step(batch);
        BOOST_TEST(close(la, lb), "step " << step << ": the CPU's loss " << la << ", the GPU's kernels' " << lb);
    }
    auto compare = [&](const std::string& what, const std::vector<float>& x, const std::vector<float>& y) {
        std::size_t bad = 0;
        while (bad < x.size() && close(x[bad], y[bad])) ++bad;
        BOOST_TEST(bad == x.size(), what << '[' << bad << "]: " << (bad < x.size() ? x[bad] : 0.f) << " and "
                                         << (bad < x.size() ? y[bad] : 0.f));
    };
    for (int i = 0; i < a.parameters(); ++i) {
        compare(a.path(a.parameter(i)), a.plain(a.parameter(i)), b.plain(b.parameter(i)));
        for (int s = 0; s < decltype(a)::training::v.slots; ++s)
            compare("slot of " + a.path(a.parameter(i)), a.plain_slot(a.parameter(i), s),
                    b.plain_slot(b.parameter(i), s));
    }
    for (int i = 0; i < a.states(); ++i) compare(a.path(a.state(i)), a.plain(a.state(i)), b.plain(b.state(i)));
    batch.size = MaxBatch - 1;
    BOOST_TEST(close(a.evaluate(batch), b.evaluate(batch)));
    const auto ya = a.predict(batch), yb = b.predict(batch);
    compare("output", {ya.begin(), ya.end()}, {yb.begin(), yb.end()});
}

/// Random examples: floats, integers below `below` for embeddings, labels below ten.
struct examples {
    std::vector<float> x, y;
    std::vector<std::int32_t> indices, labels;
    data::input_view words;
    examples(int n, int floats, int whole = 0, int below = 1, int targets = 0)
        : x(static_cast<std::size_t>(n * floats)), y(static_cast<std::size_t>(n * targets)),
          indices(static_cast<std::size_t>(n * whole)), labels(static_cast<std::size_t>(n)) {
        random_stream r(11);
        for (float& v : x) v = r.normal();
        for (float& v : y) v = r.normal();
        for (auto& v : indices) v = static_cast<std::int32_t>(r.below(static_cast<std::uint32_t>(below)));
        for (auto& v : labels) v = static_cast<std::int32_t>(r.below(10));
        words = {nullptr, indices.data(), whole};
    }
    data::batch_view view() const {
        data::batch_view b{.x = x.empty() ? nullptr : x.data(), .labels = labels.data(),
                           .y = y.empty() ? nullptr : y.data()};
        if (!indices.empty()) b.inputs = {&words, 1};
        return b;
    }
};

} // namespace sinter::test
