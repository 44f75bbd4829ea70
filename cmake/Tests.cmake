# SPDX-License-Identifier: MIT
# Every file of these folders is a test of its own; a new file needs no line here.

function(ald_test_folder folder label)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c")
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        add_executable(${name} "${source}")
        set_target_properties(${name} PROPERTIES C_EXTENSIONS ON RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
        target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests")
        target_compile_definitions(${name} PRIVATE "ALD_TEST_DATA=\"${CMAKE_CURRENT_SOURCE_DIR}/tests\"")
        target_link_libraries(${name} PRIVATE ald_flags ald_internal)
        add_test(NAME ${label}/${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
        set_tests_properties(${label}/${name} PROPERTIES LABELS ${label} TIMEOUT 300)
    endforeach()
endfunction()

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
ald_test_folder(tests/unit unit)
ald_test_folder(tests/property property)
ald_test_folder(tests/fault fault)
