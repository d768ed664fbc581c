// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Sinter's version. CMakeLists.txt reads it here; members of a job compare it when they meet.
#define SINTER_VERSION "0.1.0"
