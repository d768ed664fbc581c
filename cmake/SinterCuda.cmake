# SPDX-License-Identifier: BSL-1.0
# Enables CUDA for the tests and examples written in it (*.cu) where its compiler and libraries are
# found.
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
    sinter_component(cuda)
endif()
set(SINTER_HAS_CUDA OFF)
if(TARGET sinter::cuda)
    # Machine code for Hopper; any other device from the A100 on translates the PTX when a program
    # starts.
    set(SINTER_CUDA_ARCHITECTURES "80-virtual;90-real" CACHE STRING
        "CMAKE_CUDA_ARCHITECTURES of the tests and examples")
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES ${SINTER_CUDA_ARCHITECTURES})
    endif()
    if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    endif()
    enable_language(CUDA)
    set(SINTER_HAS_CUDA ON)
endif()
message(STATUS "Sinter: CUDA tests and examples: ${SINTER_HAS_CUDA}")
