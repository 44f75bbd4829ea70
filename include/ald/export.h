/* SPDX-License-Identifier: MIT */
/* Visibility and compiler attributes of the public API. */
#ifndef ALD_EXPORT_H
#define ALD_EXPORT_H

#if defined(ALD_STATIC) || !defined(__GNUC__)
#define ALD_API
#else
#define ALD_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define ALD_NODISCARD __attribute__((warn_unused_result))
#define ALD_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define ALD_NODISCARD
#define ALD_PRINTF(fmt, first)
#endif

#ifdef __cplusplus
#define ALD_BEGIN_DECLS extern "C" {
#define ALD_END_DECLS }
#else
#define ALD_BEGIN_DECLS
#define ALD_END_DECLS
#endif

#endif
