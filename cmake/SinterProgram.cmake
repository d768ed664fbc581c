# SPDX-License-Identifier: BSL-1.0
# What the tests, examples and benchmarks share: their warnings, and the comments at the head of a
# file that say how it is to be built and run, so that adding a program never means editing CMake.
set(SINTER_SANITIZE "" CACHE STRING "Sanitizers for tests and examples, e.g. address,undefined")

# sinter_head(<file> <key> <out>): the words after `// key:` at the head of a file, on at most three
# lines, or nothing.
function(sinter_head file key out)
    file(STRINGS ${file} lines LIMIT_COUNT 3 REGEX "^// ${key}: ")
    set(values "")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^// ${key}: *" "" value "${line}")
        separate_arguments(value UNIX_COMMAND "${value}")
        list(APPEND values ${value})
    endforeach()
    set(${out} "${values}" PARENT_SCOPE)
endfunction()

# sinter_missing(<out> <need>...): which of these a build lacks: zlib png jpeg distributed mpi nccl
# program_options boost_serialization python cuda gpu data examples tools.
function(sinter_missing out)
    set(missing "")
    foreach(need IN LISTS ARGN)
        if(NOT SINTER_FOUND_${need})
            list(APPEND missing ${need})
        endif()
    endforeach()
    set(${out} "${missing}" PARENT_SCOPE)
endfunction()

# Examples, benchmarks and tests of whole programs link the library of ordinary code (SinterCompiled.cmake), which is
# built once for all of them. Tests of one folder of the house have all of it from headers: so both forms are tested.
set(SINTER_LIBRARY_OPTIMISATION "" CACHE STRING "Optimisation of the library that ours link; empty: the build type's")
sinter_component(parameter_server_compiled)

# sinter_program(<target> <source> <folder> <name> [COMPILED]): the executable <folder>/<name> under the build folder.
function(sinter_program target source folder name)
    add_executable(${target} ${source})
    if("COMPILED" IN_LIST ARGN AND NOT source MATCHES "\\.cu$")
        if(TARGET sinter::parameter_server_compiled)
            target_link_libraries(${target} PRIVATE sinter::parameter_server_compiled)
        else()
            target_link_libraries(${target} PRIVATE sinter::compiled)
        endif()
    endif()
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder} OUTPUT_NAME ${name})
    target_link_libraries(${target} PRIVATE sinter::sinter)
    if(TARGET sinter::png)
        target_link_libraries(${target} PRIVATE sinter::png)
        target_compile_definitions(${target} PRIVATE SINTER_WITH_PNG)
    endif()
    if(TARGET sinter::jpeg)
        target_link_libraries(${target} PRIVATE sinter::jpeg)
    endif()
    if(TARGET sinter::distributed)
        target_link_libraries(${target} PRIVATE sinter::distributed)
    endif()
    if(TARGET Boost::program_options)
        target_link_libraries(${target} PRIVATE Boost::program_options)
    endif()
    if(source MATCHES "\\.cu$")
        target_link_libraries(${target} PRIVATE sinter::cuda)
    endif()
    sinter_compile_like_ours(${target})
endfunction()

# What a test costs is counted in half cores, its property PROCESSORS: ctest -j 4 keeps two cores busy.
# sinter_test_cores(<test> <cores>): it needs a number of cores, `half` of one, or `all`.
function(sinter_test_cores test cores)
    if(cores STREQUAL "half")
        set(halves 1)
    elseif(cores STREQUAL "all")
        set(halves 1000)   # more than ctest has: the test runs alone
    else()
        math(EXPR halves "2 * ${cores}")
    endif()
    set_tests_properties(${test} PROPERTIES PROCESSORS ${halves})
endfunction()

# sinter_tests_have_cores(): each test of this folder that says nothing of its cost needs a core. Lists that add tests
# call it at their end, by cmake_language(DEFER).
function(sinter_tests_have_cores)
    get_directory_property(tests TESTS)
    foreach(test IN LISTS tests)
        get_property(said TEST ${test} PROPERTY PROCESSORS SET)
        if(NOT said)
            sinter_test_cores(${test} 1)
        endif()
    endforeach()
endfunction()

# sinter_compiles(<test> <source> <target>): a test that compiles the source as far as
# errors go, with the target's definitions and includes.
function(sinter_compiles test source target)
    add_test(NAME ${test} COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -w
        "-D$<JOIN:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,;-D>"
        "-I$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,;-I>" ${source} COMMAND_EXPAND_LISTS)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600)
endfunction()

function(sinter_compile_like_ours target)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CUDA_STANDARD 20 CUDA_EXTENSIONS OFF)
    target_compile_definitions(${target} PRIVATE SINTER_ALLOW_UNOPTIMISED)   # Debug builds and sanitized tests mean it
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-psabi>")
    if(SINTER_SANITIZE)
        # What these would find, the address sanitizer or the processor reports too, and they double
        # the time that unrolled kernels take to compile.
        set(flags -fsanitize=${SINTER_SANITIZE} -fno-sanitize-recover=all
            -fno-sanitize=null,object-size,pointer-overflow,alignment,vptr -fno-omit-frame-pointer)
        # GCC's thread sanitizer does not know fences, of which Asio has some.
        if(SINTER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            list(APPEND flags -Wno-tsan)
        endif()
        if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")   # a third of the time: a description of each instance's type
            list(APPEND flags -fno-sanitize=function)
        endif()
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
        target_link_options(${target} PRIVATE -fsanitize=${SINTER_SANITIZE})
    endif()
endfunction()

foreach(part IN ITEMS sinter_compiled sinter_distributed_compiled sinter_parameter_server_compiled)
    if(TARGET ${part})
        sinter_compile_like_ours(${part})
        target_compile_options(${part} PRIVATE ${SINTER_LIBRARY_OPTIMISATION})
    endif()
endforeach()

find_package(Boost 1.74 QUIET COMPONENTS program_options OPTIONAL_COMPONENTS serialization)
find_package(Python3 COMPONENTS Interpreter QUIET)
set(SINTER_DATA "$ENV{SINTER_DATA}" CACHE PATH "Folder of data sets for the tests that train on real data")
cmake_path(ABSOLUTE_PATH SINTER_DATA BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE SINTER_DATA_DIR)
if(NOT SINTER_DATA)
    cmake_path(SET SINTER_DATA_DIR NORMALIZE ${PROJECT_SOURCE_DIR}/../shared/data)
endif()
set(SINTER_FOUND_zlib ${ZLIB_FOUND})
set(SINTER_FOUND_png ${PNG_FOUND})
set(SINTER_FOUND_jpeg ${JPEG_FOUND})
set(SINTER_FOUND_distributed OFF)
if(TARGET sinter::distributed)
    set(SINTER_FOUND_distributed ON)
endif()
set(SINTER_FOUND_mpi OFF)
if(TARGET sinter::mpi AND MPIEXEC_EXECUTABLE)
    set(SINTER_FOUND_mpi ON)
endif()
set(SINTER_FOUND_nccl OFF)
if(TARGET sinter::nccl)
    set(SINTER_FOUND_nccl ON)
endif()
set(SINTER_FOUND_program_options ${Boost_FOUND})
set(SINTER_FOUND_boost_serialization OFF)
if(TARGET Boost::serialization)
    set(SINTER_FOUND_boost_serialization ON)
endif()
set(SINTER_FOUND_python ${Python3_FOUND})
set(SINTER_FOUND_examples OFF)
if(SINTER_BUILD_EXAMPLES AND Boost_FOUND)
    set(SINTER_FOUND_examples ON)
endif()
set(SINTER_FOUND_tools OFF)   # sinter-launch
if(SINTER_BUILD_TOOLS AND Boost_FOUND)
    set(SINTER_FOUND_tools ON)
endif()
set(SINTER_FOUND_cuda ${SINTER_HAS_CUDA})
set(SINTER_FOUND_data OFF)
if(IS_DIRECTORY ${SINTER_DATA_DIR})
    set(SINTER_FOUND_data ON)
endif()
set(SINTER_FOUND_gpu OFF)
if(SINTER_HAS_CUDA AND EXISTS /dev/nvidiactl)
    set(SINTER_FOUND_gpu ON)
endif()
