// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "parameter_server/words.hpp"
#include <sinter/base/hash.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/pipeline.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <string>

/// A run that may be killed and started again, for tests of what it ends in. The net has a table,
/// running statistics and random numbers.
namespace sinter::interrupted {

constexpr int steps = 150, batch = server_words::batch;

/// A run with checkpoints in `folder`, or what is left of one. For the chief "150 steps, file HASH":
/// all that a file has of the model; for others "trained" or "served".
template <class Strategy>
std::string trained(const Strategy& s, const std::string& folder, auto& hook) {
    static const server_words::examples all;
    estimator model{server_words::net, softmax_cross_entropy, adam{}, max_batch<batch>, s, {.threads = 1}};
    data::dataset d;
    d.input(extents(6), std::vector<std::int32_t>(std::begin(all.words), std::end(all.words)))
        .labels(std::vector<std::int32_t>(std::begin(all.labels), std::end(all.labels)), 5);
    auto data = data::source(d) | data::shuffle(40) | data::batch(batch);
    model.train(data, {.max_steps = steps, .progress = nullptr}, hook,
                save_checkpoints(folder, {.every_steps = 3, .resume = true, .keep = 3, .restarts_at_a_step = 0}));
    if constexpr (requires { model.inner().session().serves(); })
        if (model.inner().session().serves()) return "served";
    if (!model.inner().session().member().chief()) return "trained";
    const std::vector<std::byte> file = save_to_memory(model.inner());
    return to_text({model.inner().steps(), " steps, file ",
                   base::fnv1a({reinterpret_cast<const char*>(file.data()), file.size()})});
}

} // namespace sinter::interrupted
