# SPDX-License-Identifier: MIT
# The alimentar command.

file(GLOB_RECURSE ald_cli_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/cli/*.c")
if(NOT ald_cli_sources)
    message(STATUS "src/cli has no sources: no command is built")
    return()
endif()
add_executable(alimentar ${ald_cli_sources})
set_target_properties(alimentar PROPERTIES C_EXTENSIONS ON)
target_link_libraries(alimentar PRIVATE ald_flags ald_internal)
