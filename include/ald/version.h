/* SPDX-License-Identifier: MIT */
/* The version of the library, in this one place: the build reads it from here. */
#ifndef ALD_VERSION_H
#define ALD_VERSION_H

#define ALD_VERSION_MAJOR 0
#define ALD_VERSION_MINOR 1
#define ALD_VERSION_PATCH 0

#define ALD_VERSION_TEXT_OF(x) #x
#define ALD_VERSION_TEXT(a, b, c)                                                                  \
    ALD_VERSION_TEXT_OF(a) "." ALD_VERSION_TEXT_OF(b) "." ALD_VERSION_TEXT_OF(c)
#define ALD_VERSION_STRING ALD_VERSION_TEXT(ALD_VERSION_MAJOR, ALD_VERSION_MINOR, ALD_VERSION_PATCH)

#endif
