// SPDX-License-Identifier: BSL-1.0
#pragma once

/// One source file of the library includes this: it has the functions of base/ and io/.
#if defined(SINTER_SEPARATE_COMPILATION) && defined(SINTER_BODIES) && !defined(SINTER_COMPILES_BODIES)
#error "sinter/compiled/core_io_source.hpp comes first in a file of its own"
#endif
#include <sinter/compiled/bodies_from_here.hpp>

#include <sinter/compiled/core_io_headers.hpp>
