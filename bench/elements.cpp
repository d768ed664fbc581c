// SPDX-License-Identifier: BSL-1.0
// What pipelines of structs cost, as JSON lines: batches of 64 out of 60,000 pictures of 28 x 28, filled in turns by
// memcpy, by a pipeline of a dataset, and by pipelines of structs. One thread; processor time, medians.
#include "measure.hpp"
#include "options.hpp"
#include <sinter/data/transform/augment.hpp>
#include <sinter/pipelines.hpp>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>

using namespace sinter;

namespace {

constexpr const char* help =
    "elements [--rounds R] [--threads 1]\n"
    "Fills batches of structs and of datasets in turns, R times each (default 15); JSON lines.";
constexpr int pictures = 60'000, batch = 64;

struct floats {
    std::array<float, 784> image;
    std::int32_t label;
};
struct bytes {
    data::pixels<28, 28> image;
    std::int32_t label;
};

constexpr port_info inputs[] = {{.s = extents(28, 28, 1)}};
constexpr port_info targets[] = {{.s = {.type = dtype::i32, .rank = 1, .d = {1}}, .below = 10}};
constexpr data::model_ports ports{{inputs, 1}, {targets, 1}};

std::vector<bytes> drawn() {
    std::vector<bytes> all(pictures);
    random_stream random(1);
    for (bytes& p : all) {
        for (std::uint8_t& b : p.image.bytes) b = static_cast<std::uint8_t>(random.below(256));
        p.label = static_cast<std::int32_t>(random.below(10));
    }
    return all;
}
std::vector<floats> as_floats(const std::vector<bytes>& all) {
    std::vector<floats> f(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = 0; k < 784; ++k) f[i].image[k] = static_cast<float>(all[i].image.bytes[k]) / 255;
        f[i].label = all[i].label;
    }
    return f;
}
floats shares(const bytes& p) {
    floats f;
    for (std::size_t k = 0; k < 784; ++k) f.image[k] = static_cast<float>(p.image.bytes[k]) * (1 / 255.f);
    f.label = p.label;
    return f;
}
floats flipped(const floats& p, random_stream& random) {
    if (random.below(2)) return p;
    floats f;
    for (std::size_t r = 0; r < 28; ++r)
        for (std::size_t c = 0; c < 28; ++c) f.image[r * 28 + c] = p.image[r * 28 + 27 - c];
    f.label = p.label;
    return f;
}

/// A pass of batches, and what they are called.
struct contender {
    std::string name;
    std::function<void()> pass;
    std::vector<double> us{};
};
template <class Batches>
contender of_structs(const char* name, Batches made, batch_share share = {}) {
    auto own = std::make_shared<Batches>(std::move(made));
    data::pipeline_for<ports>(*own).share(share);
    return {name, [own] { while (data::pipeline_for<ports>(*own).next()) {} }};
}
contender of_dataset(const char* name, data::pipeline made) {
    auto own = std::make_shared<data::pipeline>(std::move(made));
    return {name, [own] { while (own->next()) {} }};
}

/// From anywhere to element 10^9 of a shuffled pass, and the first batch there.
void go_on_far_away(int rounds) {
    auto far = data::from(4'000'000'000, [](std::int64_t i) {
        floats f;
        f.label = static_cast<std::int32_t>(i % 10);
        return f;
    }) | data::shuffle() | data::batch(batch);
    data::pipeline& p = data::pipeline_for<ports>(far);
    p.next();
    std::vector<double> us;
    for (int r = 0; r < rounds; ++r) {
        p.rewind();
        p.next();
        const double began = bench::cpu_seconds();
        p.seek({3, 1'000'000'000 + r});
        p.next();
        us.push_back(1e6 * (bench::cpu_seconds() - began));
    }
    std::sort(us.begin(), us.end());
    std::printf("{\"rows\": \"to element 1e9 of a shuffled pass of 4e9, and a batch\", \"system\": \"sinter\", "
                "\"us\": %.1f, \"state_bytes\": %zu}\n",
                us[us.size() / 2], 2 * sizeof(std::int64_t) + p.position().cursors.size());
}

int run(int rounds) {
    const auto b = std::make_shared<const std::vector<bytes>>(drawn());
    const auto f = std::make_shared<const std::vector<floats>>(as_floats(*b));
    std::vector<float> x(static_cast<std::size_t>(pictures) * 784);
    std::vector<std::int32_t> y(pictures);
    for (std::size_t i = 0; i < pictures; ++i) {
        std::copy((*f)[i].image.begin(), (*f)[i].image.end(), x.begin() + static_cast<std::ptrdiff_t>(784 * i));
        y[i] = (*f)[i].label;
    }
    const data::dataset set = data::dataset(extents(28, 28, 1), std::move(x)).labels(std::move(y), 10);
    std::vector<std::uint32_t> order(pictures);
    std::iota(order.begin(), order.end(), 0u);
    random_stream random(2);
    for (std::uint32_t i = pictures; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const auto to = std::make_shared<std::vector<float>>(batch * 784);

    std::vector<contender> all;
    all.push_back({"memcpy, row by row at random", [&, to] {
                       for (std::size_t i = 0; i < pictures; ++i)
                           std::memcpy(to->data() + i % batch * 784, (*f)[order[i]].image.data(), 784 * sizeof(float));
                   }});
    all.push_back(of_dataset("dataset of floats, shuffled", set | data::shuffle() | data::batch(batch)));
    all.push_back(of_structs("structs of floats, shuffled", data::rows(f) | data::shuffle() | data::batch(batch)));
    all.push_back(of_structs("structs of pixels, shuffled", data::rows(b) | data::shuffle() | data::batch(batch)));
    all.push_back(of_structs("structs of bytes, shuffled, a map to floats",
                             data::rows(b) | data::shuffle() | data::map(shares) | data::batch(batch)));
    all.push_back(of_structs("structs of bytes, shuffled, a map to floats, a random flip",
                             data::rows(b) | data::shuffle() | data::map(shares) | data::map(flipped) |
                                 data::batch(batch)));
    all.push_back(of_structs("the same, one of two processes that share each batch",
                             data::rows(b) | data::shuffle() | data::map(shares) | data::map(flipped) |
                                 data::batch(batch), {0, 1, 2}));
    for (int r = -1; r < rounds; ++r)
        for (contender& c : all) {
            const double began = bench::cpu_seconds();
            c.pass();
            if (r >= 0) c.us.push_back(1e6 * (bench::cpu_seconds() - began) * batch / pictures);
        }
    double first = 0;
    for (contender& c : all) {
        std::sort(c.us.begin(), c.us.end());
        const double us = c.us[c.us.size() / 2];
        if (first == 0) first = us;
        std::printf(
            "{\"rows\": \"%s\", \"batch\": %d, \"system\": \"sinter\", \"fill_us\": %.2f, \"of_memcpy\": %.2f}\n",
            c.name.c_str(), batch, us, us / first);
    }
    go_on_far_away(rounds);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 15;
    auto take = [&](const std::string& name, const std::string& value) {
        if (name == "--rounds") rounds = bench::number(name, value, 1, 10'000);
        else if (name == "--threads") bench::number(name, value, 1, 1);
        else return false;
        return true;
    };
    return bench::with_options(argc, argv, help, take, [&] { return run(rounds); });
}
