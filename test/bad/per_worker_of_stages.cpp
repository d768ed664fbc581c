// SPDX-License-Identifier: BSL-1.0
// expect: per_worker: needed is a function (index, count) that gives batches
// flags: -O0
#include <sinter/pipelines.hpp>
using namespace sinter;

int main() {
    auto train = data::per_worker([](int index, int count) { return data::range(100) | data::shard(count, index); });
    static_cast<void>(train);
}
