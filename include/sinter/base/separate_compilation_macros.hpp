// SPDX-License-Identifier: BSL-1.0
// No include guard: sinter/compiled/bodies_from_here.hpp includes it again, once SINTER_COMPILES_BODIES is defined.
// base/separate_compilation.hpp says what the macros mean.
#undef SINTER_BODIES
#undef SINTER_APART
#undef SINTER_SELDOM
#undef SINTER_SELDOM_BODY
#undef SINTER_SELDOM_CLASS
#if !defined(SINTER_SEPARATE_COMPILATION)
#define SINTER_BODIES 1
#define SINTER_APART inline
#define SINTER_SELDOM template <class = void>
#define SINTER_SELDOM_BODY template <class>
#define SINTER_SELDOM_CLASS template <class = void>
#else
#if !defined(SINTER_COMPILES_BODIES)   // by compiled/*_source.hpp
#define SINTER_BODIES 0
#define SINTER_APART
#else
#define SINTER_BODIES 1
#if defined(__clang__)
#define SINTER_APART __attribute__((weak))
#else
#define SINTER_APART inline __attribute__((used))
#endif
#endif
#define SINTER_SELDOM SINTER_APART
#define SINTER_SELDOM_BODY SINTER_APART
#define SINTER_SELDOM_CLASS
#endif
