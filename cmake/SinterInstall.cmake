# SPDX-License-Identifier: BSL-1.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/sinter)
install(DIRECTORY include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY zoo DESTINATION ${CMAKE_INSTALL_DATADIR}/sinter FILES_MATCHING PATTERN "*.hpp")
target_include_directories(sinter_zoo INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/sinter>)
install(TARGETS sinter sinter_zoo EXPORT sinterTargets)
install(EXPORT sinterTargets NAMESPACE sinter:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sinterConfig.cmake.in ${PROJECT_BINARY_DIR}/sinterConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/sinterConfig.cmake ${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake
    cmake/SinterCompiled.cmake cmake/SinterComponent.cmake cmake/SinterNative.cmake cmake/SinterParts.cmake
    DESTINATION ${package_dir})
install(DIRECTORY tools DESTINATION ${CMAKE_INSTALL_DATADIR}/sinter FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/sinter)
