# SPDX-License-Identifier: BSL-1.0
# sinter_component(<name>): look for what an optional part of Sinter needs and, where it is found,
# define the target sinter::<name>. Nothing is looked for before somebody asks: find_package(sinter
# COMPONENTS <name>) does, and after add_subdirectory or FetchContent_MakeAvailable a project calls
# sinter_component(<name>) itself.
#   png    <sinter/io/png.hpp>: libpng
#   jpeg   <sinter/data/decode/jpeg.hpp>: libjpeg-turbo
#   cuda   <sinter/cuda.hpp>: the CUDA Toolkit with cuBLAS, and cuDNN
#   distributed   <sinter/net/...>, <sinter/collective/...> over TCP: Boost's headers (Asio), and OpenSSL
#   compiled, distributed_compiled, parameter_server_compiled   what no model changes as a library, and not in all
#                 files that include it (SinterCompiled.cmake); the last two need what distributed needs
#   launch    sinter::launch, the program sinter-launch: Boost's Program_options. The installed one, or one that is
#             built with the project that asks (target sinter-launch, in CMAKE_BINARY_DIR)
#   mpi    <sinter/collective/mpi.hpp>: an MPI library's C interface
#   nccl   <sinter/collective/nccl.hpp>: NCCL and the CUDA runtime, and what distributed needs
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/SinterCompiled.cmake)

macro(sinter_component name)
    if(NOT COMMAND sinter_find_${name})
        message(FATAL_ERROR "sinter_component(${name}): there is no such part of Sinter; "
            "there are png, jpeg, cuda, distributed, compiled, distributed_compiled, parameter_server_compiled, "
            "launch, mpi and nccl")
    elseif(NOT TARGET sinter::${name})
        cmake_language(CALL sinter_find_${name})
    endif()
endmacro()

macro(sinter_find_png)
    find_package(PNG QUIET)
    if(PNG_FOUND)
        add_library(sinter::png INTERFACE IMPORTED)
        target_link_libraries(sinter::png INTERFACE sinter::sinter PNG::PNG)
    endif()
endmacro()

# CMake's module takes any JPEG library; Debian and Ubuntu have libjpeg-turbo under that name.
macro(sinter_find_jpeg)
    find_package(JPEG QUIET)
    if(JPEG_FOUND)
        add_library(sinter::jpeg INTERFACE IMPORTED)
        target_link_libraries(sinter::jpeg INTERFACE sinter::sinter JPEG::JPEG)
    endif()
endmacro()

macro(sinter_find_distributed)
    find_package(Boost 1.74 QUIET)
    find_package(OpenSSL QUIET)
    if(Boost_FOUND AND OPENSSL_FOUND)
        add_library(sinter::distributed INTERFACE IMPORTED)
        target_link_libraries(sinter::distributed INTERFACE sinter::sinter Boost::headers OpenSSL::SSL OpenSSL::Crypto)
        # nvcc's host compiler rejects these two parts of Asio; all files must agree, or one type
        # has two meanings.
        target_compile_definitions(sinter::distributed INTERFACE
            BOOST_ASIO_DISABLE_VARIABLE_TEMPLATES BOOST_ASIO_DISABLE_CO_AWAIT)
        sinter_component(distributed_compiled)   # programs of before ask for distributed and link this
    endif()
endmacro()

function(sinter_find_launch)
    set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})   # Sinter's cmake/, or share/cmake/sinter of an installation
    set(source ${folder}/../tools/sinter-launch.cpp)
    if(EXISTS ${folder}/sinterConfig.cmake)
        set(source ${folder}/../../sinter/tools/sinter-launch.cpp)
        find_program(SINTER_LAUNCH_PROGRAM sinter-launch NO_DEFAULT_PATH HINTS ${folder}/../../../bin)
        mark_as_advanced(SINTER_LAUNCH_PROGRAM)
    endif()
    if(TARGET sinter-launch)
        add_executable(sinter::launch ALIAS sinter-launch)
    elseif(SINTER_LAUNCH_PROGRAM)
        add_executable(sinter::launch IMPORTED)
        set_target_properties(sinter::launch PROPERTIES IMPORTED_LOCATION ${SINTER_LAUNCH_PROGRAM})
    elseif(EXISTS ${source})
        find_package(Boost 1.74 QUIET COMPONENTS program_options)
        if(TARGET Boost::program_options)
            add_executable(sinter-launch ${source})
            target_link_libraries(sinter-launch PRIVATE sinter::sinter Boost::program_options)
            target_compile_definitions(sinter-launch PRIVATE SINTER_ALLOW_UNOPTIMISED)
            set_target_properties(sinter-launch PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
                CXX_EXTENSIONS OFF)
            add_executable(sinter::launch ALIAS sinter-launch)
        endif()
    endif()
endfunction()

macro(sinter_find_mpi)
    include(CheckLanguage)
    check_language(C)   # the one that find_package(MPI) can look for its C interface with
    if(CMAKE_C_COMPILER)
        enable_language(C)
        find_package(MPI QUIET COMPONENTS C)
    endif()
    if(MPI_C_FOUND)
        add_library(sinter::mpi INTERFACE IMPORTED)
        target_link_libraries(sinter::mpi INTERFACE sinter::sinter MPI::MPI_C)
    endif()
endmacro()

macro(sinter_find_nccl)
    sinter_component(distributed)
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND)
        find_library(SINTER_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
        find_path(SINTER_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
        mark_as_advanced(SINTER_NCCL SINTER_NCCL_INCLUDE)
    endif()
    if(CUDAToolkit_FOUND AND SINTER_NCCL AND SINTER_NCCL_INCLUDE AND TARGET sinter::distributed)
        add_library(sinter::nccl INTERFACE IMPORTED)
        target_include_directories(sinter::nccl INTERFACE ${SINTER_NCCL_INCLUDE})
        target_link_libraries(sinter::nccl INTERFACE sinter::distributed CUDA::cudart ${SINTER_NCCL})
    endif()
endmacro()

macro(sinter_find_cuda)
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND)
        find_library(SINTER_CUDNN cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
        find_path(SINTER_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
        mark_as_advanced(SINTER_CUDNN SINTER_CUDNN_INCLUDE)
    endif()
    if(CUDAToolkit_FOUND AND SINTER_CUDNN AND SINTER_CUDNN_INCLUDE)
        add_library(sinter::cuda INTERFACE IMPORTED)
        target_include_directories(sinter::cuda INTERFACE ${SINTER_CUDNN_INCLUDE})
        target_link_libraries(sinter::cuda INTERFACE
            sinter::sinter CUDA::cudart CUDA::cublasLt ${SINTER_CUDNN})
        # kernels call the ops' rules and Philox, which are constexpr functions
        # (the standard as an option: CMake 3.25 does not know what nvcc 13 can)
        target_compile_options(sinter::cuda INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr>")
    endif()
endmacro()
