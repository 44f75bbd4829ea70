# SPDX-License-Identifier: MIT
# bench/micro/*.c: one executable each; tools/bench runs them.

file(GLOB ald_bench_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bench/micro/*.c")
foreach(source IN LISTS ald_bench_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    set_target_properties(${name} PROPERTIES C_EXTENSIONS ON RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
    target_link_libraries(${name} PRIVATE ald_flags ald_internal m)
endforeach()
