# SPDX-License-Identifier: BSL-1.0
# Where the tests say that Boost's Program_options are there, the launcher can be had, built or installed, and starts
# members.
if("launch" IN_LIST REQUIRED_PARTS)
    add_custom_command(TARGET app POST_BUILD COMMAND $<TARGET_FILE:sinter::launch> -n 2 -- ${CMAKE_COMMAND} -E true)
    add_dependencies(app sinter::launch)
endif()
