# SPDX-License-Identifier: BSL-1.0
# Where the tests say that libpng is there, a program that needs it is built with sinter::png, and run by the build.
if("png" IN_LIST REQUIRED_PARTS)
    add_executable(picture ${CMAKE_CURRENT_LIST_DIR}/picture.cpp)
    target_link_libraries(picture PRIVATE sinter::png)
    add_custom_command(TARGET picture POST_BUILD
        COMMAND picture ${CMAKE_CURRENT_LIST_DIR}/../../examples/images/seven.png)
endif()
