// SPDX-License-Identifier: BSL-1.0
// shows saving: SIGKILL at 200 points while a checkpoint is written
// labels: slow
// once: it waits for disks
#define BOOST_TEST_MODULE killed
#include <boost/test/unit_test.hpp>
#include "train/checkpoint/short_run.hpp"

// SIGKILL at 200 random points of a run that saves behind every step: the old checkpoint or the new one loads, never a
// mixture, and the run ends bit for bit where it would have.
BOOST_AUTO_TEST_CASE(at_200_random_points) { kill_at_random_points(200); }
