// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// What decides how a training step scales: operations, bytes, buckets of gradients and when each
/// is final, and memory. profile_of_program.hpp reads it off a program; of_layers() makes it of
/// published figures.
namespace sinter::inline SINTER_TARGET {

/// A number that grows with the batch.
struct per_batch {
    double per_example = 0, once = 0;
    double at(double batch) const { return per_example * batch + once; }
};

/// One layer of a net of which only figures are known.
struct layer_figures {
    double forward_flops = 0;   ///< of one example, a multiply-add counted as two
    double parameters = 0;
    double activations = 0;     ///< floats that an example leaves behind for the backward pass
};

/// What a plan has to know of a training step: kernels, buckets and memory.
struct training_profile {
    /// One kernel: what it computes and moves (bytes read and written).
    struct work {
        per_batch flops, bytes;
    };
    /// Gradients that are reduced together, as soon as launch `final_after` is over.
    struct bucket {
        per_batch bytes;
        int final_after = 0;
        bool rows = false;   ///< a list of rows: all members gather the lists of all
    };

    std::string name = "net";
    int batch = 64;                         ///< examples of one worker
    std::vector<work> launches, updates;    ///< up to the last gradient, and behind it
    std::vector<bucket> buckets;            ///< in the order in which they are reduced
    int every = 1;                          ///< 4: gradients of 4 steps are accumulated for one reduction and update
    double status_bytes = 0;                ///< of the small reduction of loss and flags; 0: there is none
    double parameter_bytes = 0, slot_bytes = 0, gradient_bytes = 0, state_bytes = 0, scratch_bytes = 0;
    per_batch activation_bytes;

    double reduced_bytes() const {
        double sum = 0;
        for (const bucket& b : buckets) sum += b.bytes.at(batch);
        return sum;
    }
    double flops() const {
        double sum = 0;
        for (const work& w : launches) sum += w.flops.at(batch);
        for (const work& w : updates) sum += w.flops.at(batch);
        return sum;
    }

    /// Throws option_error where a bucket's launch does not exist or a figure is no number.
    void check() const;

    /// The same step with neighbouring buckets joined until each has at least `bytes`: fewer and
    /// longer messages, which begin later.
    training_profile with_buckets_of(double bytes) const;

    struct layer_options {
        std::string name = "net";
        int batch = 64;
        double bucket_bytes = 1 << 18;
        int slots = 0;   ///< floats that the optimizer keeps for each parameter
    };
    /// A step of a net of which only layers' figures are known: forward, then backward from the
    /// last layer with twice the operations (the first layer: as many, for nobody needs the
    /// gradient by its input), then the update. The bytes that kernels move are left out.
    static training_profile of_layers(const std::vector<layer_figures>& layers, const layer_options& o);
};

inline void training_profile::check() const {
    const auto refuse = [&](const std::string& where, double got, const char* needed) {
        throw option_error("figure that cannot be used", "training profile \"" + name + "\", " + where,
                           base::number_text(got), needed);
    };
    const auto count = [&](const std::string& where, double x) {
        if (!(x >= 0 && x < 1e30)) refuse(where, x, "0 to 1e30");
    };
    if (batch < 1) refuse("batch", batch, "at least 1");
    if (every < 1) refuse("every", every, "at least 1");
    if (launches.empty()) refuse("number of launches", 0, "at least 1");
    for (const auto* list : {&launches, &updates})
        for (const work& w : *list) {
            count("FLOP of a launch", w.flops.at(batch));
            count("bytes of a launch", w.bytes.at(batch));
        }
    for (const bucket& b : buckets) {
        count("bytes of a bucket", b.bytes.at(batch));
        if (b.final_after < 0 || b.final_after >= static_cast<int>(launches.size()))
            refuse("launch after which a bucket is final", b.final_after, "one of the launches before updates");
    }
    for (double x : {status_bytes, parameter_bytes, slot_bytes, gradient_bytes, state_bytes, scratch_bytes,
                     activation_bytes.at(batch)})
        count("bytes of memory", x);
}

inline training_profile training_profile::with_buckets_of(double bytes) const {
    training_profile p = *this;
    p.buckets.clear();
    for (const bucket& b : buckets) {
        const bool joins = !p.buckets.empty() && !b.rows && !p.buckets.back().rows &&
                           p.buckets.back().bytes.at(batch) < bytes;
        if (!joins) {
            p.buckets.push_back(b);
            continue;
        }
        bucket& last = p.buckets.back();
        last.bytes.per_example += b.bytes.per_example;
        last.bytes.once += b.bytes.once;
        if (last.final_after < b.final_after) last.final_after = b.final_after;
    }
    return p;
}

inline training_profile training_profile::of_layers(const std::vector<layer_figures>& layers, const layer_options& o) {
    training_profile p;
    p.name = o.name;
    p.batch = o.batch;
    double parameters = 0;
    for (const layer_figures& l : layers) {
        p.launches.push_back({{l.forward_flops, 0}, {}});
        parameters += l.parameters;
        p.activation_bytes.per_example += 4 * l.activations;
    }
    for (std::size_t i = layers.size(); i-- > 0;) {
        p.launches.push_back({{(i ? 2 : 1) * layers[i].forward_flops, 0}, {}});
        if (layers[i].parameters > 0)
            p.buckets.push_back({{0, 4 * layers[i].parameters}, static_cast<int>(p.launches.size()) - 1, false});
    }
    p.parameter_bytes = p.gradient_bytes = 4 * parameters;
    p.slot_bytes = p.parameter_bytes * o.slots;
    p.updates.push_back({{0, (2 + 6 * o.slots) * parameters}, {0, (3 + 2 * o.slots) * p.parameter_bytes}});
    p.check();
    return p.with_buckets_of(o.bucket_bytes);
}

} // namespace sinter
