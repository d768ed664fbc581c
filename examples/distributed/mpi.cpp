// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"
#ifdef SINTER_WITH_MPI
#include "train.hpp"
#include <sinter/collective/mpi.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/multi_worker.hpp>

// mpirun -n 4 distributed --strategy multi_worker:mpi
bool distributed::train_mpi(const settings& s, int& code) {
    if (s.strategy != "multi_worker" || s.detail != "mpi") return false;
    if (s.canonical == 0) code = train(s, multi_worker<mpi>{});
    else if (s.canonical == 4) code = train(s, canonical<4>(multi_worker<mpi>{}));
    else return false;
    return true;
}
#else
bool distributed::train_mpi(const settings&, int&) { return false; }
#endif
