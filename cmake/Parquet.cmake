# SPDX-License-Identifier: MIT
# libald_parquet.so: Parquet through Arrow's C++ library, opened at run time when a Parquet file is first met. The library
# and the command are the same with and without it.

set(ALD_PARQUET AUTO CACHE STRING "Build the Parquet module: ON, OFF, or AUTO (where Arrow's C++ library can be had)")
set_property(CACHE ALD_PARQUET PROPERTY STRINGS AUTO ON OFF)

# Where the library folder is, seen from the folder of programs: there the command looks for the module.
file(RELATIVE_PATH ald_library_from_program "/p/${CMAKE_INSTALL_BINDIR}" "/p/${CMAKE_INSTALL_LIBDIR}")
set_source_files_properties(
    "${CMAKE_CURRENT_SOURCE_DIR}/src/interchange/parquet/parquet_library.c"
    PROPERTIES COMPILE_DEFINITIONS "ALD_LIBRARY_FROM_PROGRAM=\"${ald_library_from_program}\"")

# The system's Arrow first; else the pinned libraries that tools/fetch takes out of a wheel. Sets ald_parquet_found.
macro(ald_find_parquet)
    set(ald_arrow_dir "${ALD_THIRD_PARTY_DIR}/arrow")
    find_package(Parquet QUIET CONFIG)
    if(TARGET Parquet::parquet_shared AND Parquet_VERSION VERSION_GREATER_EQUAL 26)
        set(ald_parquet_found TRUE)
        set(ald_parquet_bundled FALSE)
    else()
        if(NOT EXISTS "${ald_arrow_dir}/include/parquet/api/reader.h")
            execute_process(
                COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch" arrow --out "${ALD_THIRD_PARTY_DIR}")
        endif()
        file(GLOB ald_arrow_libraries "${ald_arrow_dir}/lib/lib*.so.*")
        if(ald_arrow_libraries)
            set(ald_parquet_found TRUE)
            set(ald_parquet_bundled TRUE)
        endif()
    endif()
endmacro()

function(ald_parquet_module)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/interchange/parquet/*.cpp")
    set(exports "${CMAKE_CURRENT_SOURCE_DIR}/src/interchange/parquet/exports.map")
    add_library(ald_parquet MODULE ${sources})
    set_target_properties(
        ald_parquet
        PROPERTIES CXX_STANDARD 20
                   CXX_STANDARD_REQUIRED ON
                   CXX_EXTENSIONS OFF
                   CXX_VISIBILITY_PRESET hidden
                   VISIBILITY_INLINES_HIDDEN ON
                   LINK_DEPENDS "${exports}")
    target_include_directories(
        ald_parquet PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/include" "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_compile_options(ald_parquet PRIVATE -Wall -Wextra -Wshadow -ffp-contract=off)
    if(ALD_WERROR)
        target_compile_options(ald_parquet PRIVATE -Werror)
    endif()
    if(ALD_SANITIZE)
        # Arrow itself is not instrumented: its types are not known to the vptr check.
        set(sanitize -fsanitize=${ALD_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
        target_compile_options(ald_parquet PRIVATE ${sanitize} -fno-omit-frame-pointer -g)
        target_link_options(ald_parquet PRIVATE ${sanitize})
    elseif(NOT APPLE)
        target_link_options(ald_parquet PRIVATE -Wl,-z,defs -Wl,--gc-sections)
    endif()
    if(NOT APPLE)
        target_link_options(ald_parquet PRIVATE "-Wl,--version-script=${exports}")
    endif()
    if(ald_parquet_bundled)
        target_include_directories(ald_parquet SYSTEM PRIVATE "${ald_arrow_dir}/include")
        target_link_libraries(ald_parquet PRIVATE ${ald_arrow_libraries})
        # Built: the fetched libraries. Installed: those beside it.
        set_target_properties(ald_parquet PROPERTIES BUILD_RPATH "${ald_arrow_dir}/lib" INSTALL_RPATH "$ORIGIN")
    else()
        target_link_libraries(ald_parquet PRIVATE Parquet::parquet_shared)
        set_target_properties(ald_parquet PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    endif()
endfunction()

set(ald_parquet_found FALSE)
if(ALD_PARQUET AND (NOT ALD_SANITIZE OR ALD_PARQUET STREQUAL ON))
    include(CheckLanguage)
    check_language(CXX)
    if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
        ald_find_parquet()
    endif()
    if(ald_parquet_found)
        ald_parquet_module()
    elseif(ALD_PARQUET STREQUAL "AUTO")
        message(STATUS "no C++ compiler, or no Arrow C++ library of version 26 or later: built without Parquet")
    else()
        message(FATAL_ERROR "ALD_PARQUET is ON, but there is no C++ compiler, or no Arrow C++ library of version 26 or later")
    endif()
endif()
if(NOT TARGET ald_parquet)
    list(REMOVE_ITEM ALD_FIELD_AREAS parquet) # its inputs are Parquet
endif()
