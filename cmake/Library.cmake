# SPDX-License-Identifier: MIT
# libald. Three object libraries follow the layers; core and interchange are strict C11, native may ask for POSIX.

function(ald_objects name folder extensions)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c")
    if(NOT sources)
        return()
    endif()
    add_library(${name} OBJECT ${sources})
    set_target_properties(${name} PROPERTIES C_EXTENSIONS ${extensions})
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/include" "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_link_libraries(${name} PRIVATE ald_product_flags ald_third_party_headers ald_system)
    set(ald_object_targets ${ald_object_targets} ${name} PARENT_SCOPE)
endfunction()

set(ald_object_targets "")
# Without optimisation each vector intrinsic is a call with temporaries of its own, and frames say nothing.
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/src/core/watermark/sip.c"
                            PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Debug>:-O2>")
ald_objects(ald_core src/core OFF)
ald_objects(ald_interchange src/interchange OFF)
ald_objects(ald_native src/native ON)
set(ald_all_objects $<TARGET_OBJECTS:ald_third_party>)
foreach(target IN LISTS ald_object_targets)
    list(APPEND ald_all_objects $<TARGET_OBJECTS:${target}>)
endforeach()

# For the command and the tests: they see the internal functions.
add_library(ald_internal STATIC ${ald_all_objects})
set_target_properties(ald_internal PROPERTIES LINKER_LANGUAGE C)
target_include_directories(ald_internal PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include" "${CMAKE_CURRENT_SOURCE_DIR}/src")
target_link_libraries(ald_internal PUBLIC ald_base_flags ald_third_party_headers ald_system)
if(ALD_BUILD_CLI OR ALD_BUILD_TESTS OR ALD_BUILD_BENCH)
    include(cmake/Card.cmake)
    target_sources(ald_internal PRIVATE $<TARGET_OBJECTS:ald_card>)
    target_link_libraries(ald_internal PUBLIC PkgConfig::YAML)
endif()

if(ALD_BUILD_SHARED)
    add_library(ald_shared SHARED ${ald_all_objects})
    set_target_properties(
        ald_shared
        PROPERTIES OUTPUT_NAME ald
                   LINKER_LANGUAGE C
                   VERSION ${PROJECT_VERSION}
                   SOVERSION ${ALD_SOVERSION}
                   EXPORT_NAME shared)
    target_include_directories(ald_shared PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
                                                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(ald_shared PRIVATE $<BUILD_INTERFACE:ald_base_flags> $<BUILD_INTERFACE:ald_system>)
    if(NOT APPLE AND NOT ALD_SANITIZE)
        target_link_options(ald_shared PRIVATE -Wl,-z,defs)
    endif()
endif()

# libald.a is one relocatable object whose hidden symbols are local, so neither our internals nor the third-party
# copies in it can clash with a program's own. Sections stay apart: the program's linker still drops what it does not use.
if(NOT APPLE AND NOT ALD_SANITIZE AND CMAKE_OBJCOPY)
    add_custom_command(
        OUTPUT "${CMAKE_BINARY_DIR}/libald.a"
        COMMAND "${CMAKE_C_COMPILER}" -r -nostdlib -o libald.o ${ald_all_objects}
        COMMAND "${CMAKE_OBJCOPY}" --localize-hidden libald.o
        COMMAND "${CMAKE_COMMAND}" -E rm -f libald.a
        COMMAND "${CMAKE_AR}" rcs libald.a libald.o
        DEPENDS ${ald_all_objects}
        WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
        COMMAND_EXPAND_LISTS VERBATIM
        COMMENT "Linking libald.a")
    add_custom_target(ald_static ALL DEPENDS "${CMAKE_BINARY_DIR}/libald.a")
endif()
