#pragma once

// Whether this code is compiled with each sanitizer (1 or 0). GCC defines macros of its own for them, and clang reports
// them as features.

#if defined(__SANITIZE_ADDRESS__)
#define FUSESCOPE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUSESCOPE_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define FUSESCOPE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FUSESCOPE_THREAD_SANITIZER 1
#endif
#endif

#ifndef FUSESCOPE_ADDRESS_SANITIZER
#define FUSESCOPE_ADDRESS_SANITIZER 0
#endif
#ifndef FUSESCOPE_THREAD_SANITIZER
#define FUSESCOPE_THREAD_SANITIZER 0
#endif
