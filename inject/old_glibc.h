// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// glibc 2.34 gave the functions that it moved from libdl and libpthread into libc a new symbol version; a library
// linked there would not load on an older system. The old versions are still offered, so ask for those (glibc
// NEWS 2.34).
#ifndef GPUWHY_INJECT_OLD_GLIBC_H_
#define GPUWHY_INJECT_OLD_GLIBC_H_

#if defined(__x86_64__)
#define GPUWHY_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define GPUWHY_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#else
#define GPUWHY_OLD_SYMBOL(name) static_assert(true)
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(GPUWHY_PLAIN_SYMBOLS)
GPUWHY_OLD_SYMBOL(dlopen);
GPUWHY_OLD_SYMBOL(dlsym);
GPUWHY_OLD_SYMBOL(dladdr);
GPUWHY_OLD_SYMBOL(pthread_create);
GPUWHY_OLD_SYMBOL(pthread_detach);
GPUWHY_OLD_SYMBOL(pthread_sigmask);
GPUWHY_OLD_SYMBOL(pthread_mutex_trylock);
#endif

#endif  // GPUWHY_INJECT_OLD_GLIBC_H_
