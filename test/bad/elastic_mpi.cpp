// SPDX-License-Identifier: BSL-1.0
// expect: elastic(multi_worker<...>): members that change need ring, halving_doubling or automatic
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// As its header declares it, which needs its library.
struct sinter::mpi {
    static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

int main() { [[maybe_unused]] const auto s = elastic(multi_worker<mpi>{}); }
