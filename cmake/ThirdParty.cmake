# SPDX-License-Identifier: MIT
# System libraries, and the fetched sources that are compiled in as hidden objects.

find_package(Threads REQUIRED)

set(ald_yyjson_dir "${ALD_THIRD_PARTY_DIR}/yyjson")
set(ald_blake3_dir "${ALD_THIRD_PARTY_DIR}/blake3")
if(NOT EXISTS "${ald_blake3_dir}/blake3.h" OR NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/third_party/yyjson/yyjson_all.c")
    execute_process(
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch" --for native --out "${ALD_THIRD_PARTY_DIR}"
        RESULT_VARIABLE ald_fetch_result)
    if(NOT ald_fetch_result EQUAL 0)
        message(FATAL_ERROR "the third-party sources are missing; run tools/setup build, then tools/fetch")
    endif()
endif()

add_library(ald_third_party_headers INTERFACE)
target_include_directories(ald_third_party_headers SYSTEM INTERFACE "${ald_yyjson_dir}" "${ald_blake3_dir}")
# Its header would mark the functions as exported.
target_compile_definitions(ald_third_party_headers INTERFACE "yyjson_api=")

# None of their symbols is seen from outside: visibility is hidden, and the static library makes them local.
add_library(
    ald_third_party OBJECT
    "${CMAKE_CURRENT_SOURCE_DIR}/third_party/yyjson/yyjson_all.c"
    "${ald_blake3_dir}/blake3.c" "${ald_blake3_dir}/blake3_dispatch.c" "${ald_blake3_dir}/blake3_portable.c")
target_link_libraries(ald_third_party PRIVATE ald_base_flags ald_third_party_headers)
target_compile_options(ald_third_party PRIVATE -w)
# BLAKE3 chooses at run time; each file has the flags of its processor.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    foreach(variant "sse2:-msse2" "sse41:-msse4.1" "avx2:-mavx2" "avx512:-mavx512f;-mavx512vl")
        string(REGEX REPLACE ":.*" "" name "${variant}")
        string(REGEX REPLACE ".*:" "" flags "${variant}")
        target_sources(ald_third_party PRIVATE "${ald_blake3_dir}/blake3_${name}.c")
        set_source_files_properties("${ald_blake3_dir}/blake3_${name}.c" PROPERTIES COMPILE_OPTIONS "${flags}")
    endforeach()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
    target_sources(ald_third_party PRIVATE "${ald_blake3_dir}/blake3_neon.c")
endif()

# Everything that libald needs at link time. libcrypto and libsodium are not: src/native binds them when a key is
# first used. Nor are SQLite and libzip: src/interchange opens them with the first database or .npz. Their headers are
# used where they are.
foreach(name SQLITE ZIP)
    option(ALD_${name} "Read what needs ${name}, if its header is there" ON)
    # MemorySanitizer has to have compiled everything that runs.
    if(NOT ALD_${name} OR ALD_SANITIZE MATCHES "memory")
        target_compile_definitions(ald_third_party_headers INTERFACE ALD_WITHOUT_${name})
    endif()
endforeach()
add_library(ald_system INTERFACE)
find_package(ZLIB REQUIRED)
target_link_libraries(ald_system INTERFACE Threads::Threads ZLIB::ZLIB ${CMAKE_DL_LIBS})
if(ALD_BUNDLED_CODECS)
    # The pinned sources that WebAssembly uses, built here: for MemorySanitizer, which must have compiled everything.
    file(GLOB ald_deflate_sources "${ALD_THIRD_PARTY_DIR}/libdeflate/lib/crc32.c"
         "${ALD_THIRD_PARTY_DIR}/libdeflate/lib/utils.c" "${ALD_THIRD_PARTY_DIR}/libdeflate/lib/*/cpu_features.c")
    target_sources(
        ald_third_party
        PRIVATE "${ALD_THIRD_PARTY_DIR}/zstd/zstd.c" "${ALD_THIRD_PARTY_DIR}/lz4/lz4.c"
                "${ALD_THIRD_PARTY_DIR}/lz4/lz4hc.c" "${ALD_THIRD_PARTY_DIR}/lz4/lz4frame.c"
                "${ALD_THIRD_PARTY_DIR}/lz4/xxhash.c" ${ald_deflate_sources})
    # The amalgamated zstd counts on others for both.
    target_compile_options(ald_third_party PRIVATE -include stdint.h -D_GNU_SOURCE)
    foreach(name zstd lz4 libdeflate)
        target_include_directories(ald_third_party_headers SYSTEM INTERFACE "${ALD_THIRD_PARTY_DIR}/${name}")
    endforeach()
else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
    pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
    pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
    target_link_libraries(ald_system INTERFACE PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::DEFLATE)
endif()
