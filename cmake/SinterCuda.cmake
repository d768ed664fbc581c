# SPDX-License-Identifier: BSL-1.0
# Enables CUDA for the tests and examples written in it (*.cu) where its compiler and libraries are found.
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
    sinter_component(cuda)
endif()
set(SINTER_HAS_CUDA OFF)
if(TARGET sinter::cuda)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80)   # newer devices translate its PTX when a program starts
    endif()
    enable_language(CUDA)
    set(SINTER_HAS_CUDA ON)
endif()
message(STATUS "Sinter: CUDA tests and examples: ${SINTER_HAS_CUDA}")
