# SPDX-License-Identifier: BSL-1.0
# A program that takes a ready model, and so needs sinter::zoo.
add_executable(ready_model ${CMAKE_CURRENT_LIST_DIR}/ready_model.cpp)
target_link_libraries(ready_model PRIVATE sinter::zoo)
add_custom_command(TARGET ready_model POST_BUILD COMMAND ready_model)
