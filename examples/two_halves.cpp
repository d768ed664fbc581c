// SPDX-License-Identifier: BSL-1.0
// smoke:
//
// A step in two halves: gradients, then updates.
//
// Two replicas of a net each take half of a batch. Their gradients are averaged by hand, bucket by
// bucket, in the order in which backward makes them final; then each replica updates its own
// weights. Both end with the weights of a step on the whole batch, but for rounding. A strategy
// does the same behind the trainer.
#include <sinter/sinter.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
using namespace sinter;

constexpr auto net = features<20> >> dense<64> >> relu >> dense<64> >> relu >> dense<5>;
constexpr int batch = 32;
constexpr program_options in_buckets{.gradients = gradient_policy::reduced, .bucket_bytes = 8192};
using whole_trainer = trainer<std::remove_const_t<decltype(net)>, std::remove_cvref_t<decltype(softmax_cross_entropy)>,
                              adam, build_options{batch, in_buckets}>;
using program = whole_trainer::training;
using half = replica<model_programs<cpu_device, whole_trainer::evaluation, whole_trainer::prediction, program>>;

int main() {
    const adam optimizer{.epsilon = 1e-4f};
    whole_trainer whole(optimizer, {.threads = 1});
    half first(cpu_device::options{.threads = 1}), second(cpu_device::options{.threads = 1});
    for (half* h : {&first, &second})
        for (int i = 0; i < whole.parameters(); ++i) {
            const auto x = whole.packed(whole.parameter(i), whole.plain(whole.parameter(i)).data());
            h->write(x.to, x.x.data(), static_cast<std::int64_t>(x.x.size()));
        }

    std::vector<float> x(batch * 20);
    std::vector<std::int32_t> labels(batch);
    std::vector<float> a, b;
    for (int step = 0; step < 10; ++step) {
        random_stream random(7, static_cast<std::uint64_t>(step));
        for (float& v : x) v = random.uniform(-1, 1);
        for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(5));
        const auto part = [&](int begin, int size) {
            data::batch_view v;
            v.x = x.data() + begin * 20;
            v.labels = labels.data() + begin;
            v.size = size;
            return v;
        };
        float scalars[adam::n_scalars];
        optimizer.scalars(step, scalars);
        const step_values now{.scalars = scalars, .seed = 1, .step = step};

        first.gradients(part(0, batch / 2), now);
        second.gradients(part(batch / 2, batch / 2), now);
        for (int i = 0; i < program::v.n_buckets; ++i) {
            const compiler::gradient_bucket& bucket = program::v.buckets[i];
            a.resize(static_cast<std::size_t>(bucket.floats));
            b.resize(a.size());
            first.read(bucket.at, a.data(), bucket.floats);
            second.read(bucket.at, b.data(), bucket.floats);
            for (std::size_t k = 0; k < a.size(); ++k) a[k] = (a[k] + b[k]) / 2;
            first.write(bucket.at, a.data(), bucket.floats);
            second.write(bucket.at, a.data(), bucket.floats);
        }
        first.update(now);
        second.update(now);
        whole.step(part(0, batch));
    }

    float apart = 0, between = 0;
    for (int i = 0; i < whole.parameters(); ++i) {
        const variable_info& v = whole.parameter(i);
        const auto want = whole.packed(v, whole.plain(v).data()).x;
        a.resize(want.size());
        b.resize(want.size());
        first.read(v.at, a.data(), v.floats);
        second.read(v.at, b.data(), v.floats);
        for (std::size_t k = 0; k < want.size(); ++k) {
            apart = std::max(apart, std::abs(a[k] - want[k]));
            between = std::max(between, std::abs(a[k] - b[k]));
        }
    }
    for (int i = 0; i < program::v.n_buckets; ++i)
        std::printf("bucket %d: %d floats, final after launch %d of %d\n", i,
                    static_cast<int>(program::v.buckets[i].floats), program::v.buckets[i].final_after,
                    program::v.segments.first_update);
    std::printf("after 10 steps weights differ by %.2g from those of whole batches, and by %.2g from each other\n",
                static_cast<double>(apart), static_cast<double>(between));
    return apart < 1e-4f && between == 0 ? 0 : 1;
}
