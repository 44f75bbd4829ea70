# SPDX-License-Identifier: MIT
# Compiler flags: ald_flags for our own code, ald_base_flags for everything that is compiled here.

add_library(ald_base_flags INTERFACE)
# Floating point must give the same bits everywhere, so no contraction to fused multiply-add.
target_compile_options(ald_base_flags INTERFACE -ffp-contract=off -ffunction-sections -fdata-sections)
target_compile_definitions(ald_base_flags INTERFACE _FILE_OFFSET_BITS=64)
if(ALD_SANITIZE)
    target_compile_options(
        ald_base_flags INTERFACE -fsanitize=${ALD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(ald_base_flags INTERFACE -fsanitize=${ALD_SANITIZE} -fno-sanitize-recover=all)
    if(CMAKE_C_COMPILER_ID MATCHES Clang AND ALD_SANITIZE MATCHES "undefined")
        # clang objects to NULL + 0, which an empty buffer gives, which every compiler does as meant and which C2y allows.
        # AddressSanitizer sees the pointers that do run away.
        target_compile_options(ald_base_flags INTERFACE -fno-sanitize=pointer-overflow)
    endif()
endif()
if(ALD_BUILD_FUZZERS)
    target_compile_options(ald_base_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ALD_COVERAGE)
    target_compile_options(ald_base_flags INTERFACE --coverage -O0 -g)
    target_link_options(ald_base_flags INTERFACE --coverage)
endif()
if(APPLE)
    target_link_options(ald_base_flags INTERFACE -Wl,-dead_strip)
else()
    target_link_options(ald_base_flags INTERFACE -Wl,--gc-sections)
endif()

add_library(ald_flags INTERFACE)
target_link_libraries(ald_flags INTERFACE ald_base_flags)
target_compile_options(
    ald_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
                        -Wpointer-arith -Wformat=2
                        $<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation>) # "\xEF" "b" is how C ends an escape
if(ALD_WERROR)
    target_compile_options(ald_flags INTERFACE -Werror)
endif()

# For the library, not the command and the tests. Threads of a host may have small stacks. Sanitizers pad the frames, so
# they are not measured there.
add_library(ald_product_flags INTERFACE)
target_link_libraries(ald_product_flags INTERFACE ald_flags)
if(NOT ALD_SANITIZE AND NOT ALD_COVERAGE)
    target_compile_options(ald_product_flags INTERFACE -Wframe-larger-than=4096)
endif()
