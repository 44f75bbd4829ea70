# SPDX-License-Identifier: MIT
# src/card: dataset cards, for the command and the tests; not a part of libald. It reads YAML with libyaml, and checks
# license ids and language codes against lists that tools/fetch gets.

find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)

set(ald_card_tables "${CMAKE_BINARY_DIR}/generated/card_tables.h")
set(ald_card_lists "${ALD_THIRD_PARTY_DIR}/spdx/_spdx.py" "${ALD_THIRD_PARTY_DIR}/iso639/iso-639-3.tab")
foreach(list IN LISTS ald_card_lists)
    if(NOT EXISTS "${list}")
        execute_process(
            COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch" spdx iso639 --out "${ALD_THIRD_PARTY_DIR}"
            COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()
execute_process(
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tools/card_tables" "${ALD_THIRD_PARTY_DIR}" "${ald_card_tables}"
    COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ald_card_lists} "${CMAKE_CURRENT_SOURCE_DIR}/tools/card_tables")

file(GLOB ald_card_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/card/*.c")
add_library(ald_card OBJECT ${ald_card_sources})
target_include_directories(ald_card PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/include" "${CMAKE_CURRENT_SOURCE_DIR}/src")
target_include_directories(ald_card SYSTEM PRIVATE "${CMAKE_BINARY_DIR}/generated")
target_link_libraries(ald_card PRIVATE ald_product_flags ald_third_party_headers PkgConfig::YAML)
