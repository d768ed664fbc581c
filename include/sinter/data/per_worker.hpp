// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/batches.hpp>
#include <sinter/data/runtime/worker_batches.hpp>
#include <optional>
#include <utility>

/// Pipelines of which each worker of a job has its own.
namespace sinter::inline SINTER_ORDINARY::data {

/// Makes a pipeline for each worker of a job, whose strategy lets each read data of its own (batch_input::per_worker):
///
///     auto train = data::per_worker([](int index, int count) {
///         return data::list_files("train-*.tfrecord", {.seed = 1}) | data::shard(count, index)
///              | data::interleave(read) | data::examples_as<sample>() | data::batch(64);
///     });
///     model.train(train);
///
/// make(index, count) gives batches, for 0 <= index < count. It is called when training begins, and again for the first
/// pass that begins behind a change of the workers. Each example is then computed at most once in a pass, as far as
/// make() gives different ones to different workers: what a worker that is gone had not read is left out of that pass.
/// A process alone is worker 0 of 1. Members that share each batch read the same data instead, and leave out each
/// other's rows by themselves: they need no function.
template <class F>
per_worker_batches<F> per_worker(F make) {
    using made = std::remove_cvref_t<std::invoke_result_t<const F&, int, int>>;
    static_assert(is_of_batches<made> && !is_per_worker<made>,
                  "per_worker: needed is a function (index, count) that gives batches, `stages | data::batch(64)`");
    return per_worker_batches<F>(std::move(make));
}

template <class F>
class per_worker_batches {
public:
    explicit per_worker_batches(F make) : make_(std::move(make)) {}

    /// Where the next batch of this worker begins (data/pipeline.hpp).
    data::position position() const { return read_.made ? read_.made->position() : data::position{}; }
    /// option_error before a model has had the batches: until then it is not known whose they are.
    SINTER_COLD void seek(data::position to) {
        if (!read_.made)
            throw option_error("it is not known yet which worker this is", "per_worker, seek", {},
                               "a model that has these data");
        read_.made->seek(std::move(to));
    }
    SINTER_COLD void rewind() {
        if (read_.made) read_.made->rewind();
    }

    template <const model_ports& Ports>
    pipeline& for_ports(int index, int count) {
        const data::position at = position();
        for_model& m = Ports.predicts ? looked_at_ : read_;
        if (m.ports != &Ports) {
            m.made.emplace(batches_of_worker([make = make_](int i, int n) {
                auto own = make(i, n);
                return std::move(data::pipeline_for<Ports>(own)).release();
            }, index, count).release());
            m.ports = &Ports;
        }
        m.made->be_worker(index, count);
        if (m.made->position() != at) m.made->seek(at);
        return *m.made;
    }

private:
    struct for_model {
        const model_ports* ports = nullptr;
        std::optional<pipeline> made;
    };
    F make_;
    for_model read_, looked_at_;
};

template <const model_ports& Ports, class F>
pipeline& pipeline_for(per_worker_batches<F>& b, int index, int count) {
    return b.template for_ports<Ports>(index, count);
}

} // namespace sinter::data
