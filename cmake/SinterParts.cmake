# SPDX-License-Identifier: BSL-1.0
# SINTER_PARTS, set before add_subdirectory, FetchContent_MakeAvailable or find_package: into how
# many parts the kernels of everything that links to Sinter divide their work (8, 16, 32 or 64;
# include/sinter/base/compiler_options.hpp).
include_guard(GLOBAL)

function(sinter_parts target)
    if(NOT "${SINTER_PARTS}" STREQUAL "")
        if(NOT SINTER_PARTS MATCHES "^(8|16|32|64)$")
            message(FATAL_ERROR "SINTER_PARTS: got ${SINTER_PARTS}, needed 8, 16, 32 or 64")
        endif()
        target_compile_definitions(${target} INTERFACE $<BUILD_INTERFACE:SINTER_PARTS=${SINTER_PARTS}>)
    endif()
endfunction()
