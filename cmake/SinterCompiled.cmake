# SPDX-License-Identifier: BSL-1.0
# The library of what no model changes (include/sinter/base/separate_compilation.hpp). It is built with the project that
# links it, by the compiler and flags of that project; nothing of it is installed but headers.
#
# sinter_component(compiled)                    sinter::compiled: what all programs need
# sinter_component(distributed_compiled)        sinter::distributed_compiled: and members of a job
# sinter_component(parameter_server_compiled)   sinter::parameter_server_compiled: and parameter servers
#
# These are built for the processor that CMAKE_CXX_FLAGS says, whatever the programs are built for: at what
# CMAKE_BUILD_TYPE says, or else at -O2.
#
# sinter_compiled(<target> [distributed | parameter_server]): for a target whose own options or definitions change the
# types of ordinary code, or must reach it (sanitizers, _GLIBCXX_DEBUG). Links a library that is built with those. Call
# it when they are set. Targets that have the same ones share it.
include_guard(GLOBAL)

# sinter_compiled_part(<name> <component> LINKS...): a static library of a component's source files, which are one line
# each; there are several so that they are built at the same time.
function(sinter_compiled_part name component)
    set(of_core core_io core_data onnx training)
    set(of_distributed collectives elastic)
    set(of_parameter_server client server)
    set(sources "")
    foreach(source IN LISTS of_${component})
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}/${source}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "#include <sinter/compiled/${source}_source.hpp>\n")
        list(APPEND sources ${file})
    endforeach()
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${name} PUBLIC ${ARGN})
    target_compile_definitions(${name} PUBLIC SINTER_SEPARATE_COMPILATION PRIVATE SINTER_ALLOW_UNOPTIMISED)
    target_compile_options(${name} PRIVATE "$<$<STREQUAL:$<CONFIG>,>:-O2>")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
        UNITY_BUILD OFF DISABLE_PRECOMPILE_HEADERS ON)   # its header comes first in a file of its own
endfunction()

macro(sinter_find_compiled)
    if(NOT TARGET sinter_compiled)
        sinter_compiled_part(sinter_compiled core sinter::sinter)
        add_library(sinter::compiled ALIAS sinter_compiled)
    endif()
endmacro()

macro(sinter_find_distributed_compiled)
    sinter_component(compiled)
    sinter_component(distributed)
    if(TARGET sinter::distributed AND NOT TARGET sinter_distributed_compiled)
        sinter_compiled_part(sinter_distributed_compiled distributed sinter::compiled sinter::distributed)
        add_library(sinter::distributed_compiled ALIAS sinter_distributed_compiled)
    endif()
endmacro()

macro(sinter_find_parameter_server_compiled)
    sinter_component(distributed_compiled)
    if(TARGET sinter::distributed_compiled AND NOT TARGET sinter_parameter_server_compiled)
        sinter_compiled_part(sinter_parameter_server_compiled parameter_server sinter::distributed_compiled)
        add_library(sinter::parameter_server_compiled ALIAS sinter_parameter_server_compiled)
    endif()
endmacro()

function(sinter_compiled target)
    if(ARGC GREATER 2 OR (ARGC EQUAL 2 AND NOT ARGV1 MATCHES "^(distributed|parameter_server)$"))
        message(FATAL_ERROR
            "sinter_compiled(${ARGV}): needed is a target, and distributed, parameter_server or nothing")
    endif()
    set(components core)
    if(ARGC EQUAL 2)
        sinter_component(distributed)
        if(NOT TARGET sinter::distributed)
            message(FATAL_ERROR "sinter_compiled(${ARGV}): Boost's headers or OpenSSL are missing")
        endif()
        list(APPEND components distributed)
        if(ARGV1 STREQUAL "parameter_server")
            list(APPEND components parameter_server)
        endif()
    endif()
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    foreach(property IN ITEMS options definitions)
        if(NOT ${property})
            set(${property} "")
        endif()
    endforeach()
    string(SHA256 hash "${options} ${definitions}")
    string(SUBSTRING ${hash} 0 8 hash)
    set(below sinter::sinter)
    foreach(component IN LISTS components)
        set(name sinter_${component}_${hash})
        if(NOT TARGET ${name})
            if(component STREQUAL "distributed")
                list(APPEND below sinter::distributed)
            endif()
            sinter_compiled_part(${name} ${component} ${below})
            # The directory's are among the target's.
            set_target_properties(${name} PROPERTIES COMPILE_OPTIONS "$<$<STREQUAL:$<CONFIG>,>:-O2>;${options}")
            set_property(TARGET ${name} APPEND PROPERTY COMPILE_DEFINITIONS ${definitions})
        endif()
        set(below ${name})
    endforeach()
    target_link_libraries(${target} PRIVATE ${below})
endfunction()
