# SPDX-License-Identifier: BSL-1.0
# Where the tests say that Boost's headers and OpenSSL are there, a program that needs them is built with
# sinter::distributed, and run by the build.
if("distributed" IN_LIST REQUIRED_PARTS)
    add_executable(linked ${CMAKE_CURRENT_LIST_DIR}/linked.cpp)
    target_link_libraries(linked PRIVATE sinter::distributed)
    add_custom_command(TARGET linked POST_BUILD COMMAND linked)
endif()
