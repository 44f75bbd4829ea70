# SPDX-License-Identifier: MIT
# Headers, both libraries, the command with its man pages and completions, pkg-config and CMake package files.

include(CMakePackageConfigHelpers)

install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/include/ald" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/alimentar")
# How others know a .ald. Their databases are the system's to bring up to date (update-mime-database, /etc/magic).
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/share/alimentar.xml" DESTINATION "${CMAKE_INSTALL_DATADIR}/mime/packages")
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/share/alimentar.magic" DESTINATION "${CMAKE_INSTALL_DATADIR}/alimentar")
if(TARGET ald_shared)
    install(TARGETS ald_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET ald_static)
    install(FILES "${CMAKE_BINARY_DIR}/libald.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

# The Parquet module, and beside it the Arrow libraries that it was built with, if they are not the system's.
if(TARGET ald_parquet)
    set(ald_module_dir "${CMAKE_INSTALL_LIBDIR}/alimentar")
    install(TARGETS ald_parquet LIBRARY DESTINATION "${ald_module_dir}")
    if(ald_parquet_bundled)
        install(PROGRAMS ${ald_arrow_libraries} DESTINATION "${ald_module_dir}")
        install(FILES "${ald_arrow_dir}/LICENSE.txt" "${ald_arrow_dir}/NOTICE.txt"
                DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/alimentar/arrow")
    endif()
endif()

# The prefix is only known when it is installed (cmake --install --prefix), so the file finds it from its own place.
file(RELATIVE_PATH ald_pc_to_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/libald.pc.in" libald.pc @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/libald.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

set(ald_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/alimentar")
configure_package_config_file(
    "${CMAKE_CURRENT_SOURCE_DIR}/cmake/alimentar-config.cmake.in" alimentar-config.cmake
    INSTALL_DESTINATION "${ald_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(alimentar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/alimentar-config.cmake" "${CMAKE_BINARY_DIR}/alimentar-config-version.cmake"
        DESTINATION "${ald_package_dir}")

if(TARGET alimentar)
    install(TARGETS alimentar RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    if(NOT CMAKE_CROSSCOMPILING)
        # The command writes its own documentation, from its table of commands.
        set(ald_docs "${CMAKE_BINARY_DIR}/docs")
        install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env \"ALIMENTAR=$<TARGET_FILE:alimentar>\"
            \"${CMAKE_CURRENT_SOURCE_DIR}/tools/docs\" \"${ald_docs}\" COMMAND_ERROR_IS_FATAL ANY)")
        install(DIRECTORY "${ald_docs}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
        install(FILES "${ald_docs}/completions/alimentar.bash" RENAME alimentar
                DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
        install(FILES "${ald_docs}/completions/alimentar.zsh" RENAME _alimentar
                DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
        install(FILES "${ald_docs}/completions/alimentar.fish"
                DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
    endif()
endif()
