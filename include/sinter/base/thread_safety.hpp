// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What clang's thread-safety analysis reads (`-Wthread-safety`); other compilers see nothing. A class that can be held
/// is a capability (base::mutex). A member that is SINTER_GUARDED_BY(mutex) may be used only while that mutex is held.
/// A function that SINTER_REQUIRES(mutex) may be called only then. What breaks such a rule is an error in the tests'
/// build by clang (test/tools/warnings.sh).
/// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined __clang__
#define SINTER_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define SINTER_THREAD_ATTRIBUTE(...)
#endif

/// Of a class: it can be held, and messages call it `name`.
#define SINTER_CAPABILITY(name) SINTER_THREAD_ATTRIBUTE(capability(name))
/// Of a class: it holds a capability from its construction to its end.
#define SINTER_SCOPED_CAPABILITY SINTER_THREAD_ATTRIBUTE(scoped_lockable)

/// Of a member: it is used only while this is held.
#define SINTER_GUARDED_BY(...) SINTER_THREAD_ATTRIBUTE(guarded_by(__VA_ARGS__))
/// Of a member that is a pointer: what it points at is used only while this is held.
#define SINTER_POINTEE_GUARDED_BY(...) SINTER_THREAD_ATTRIBUTE(pt_guarded_by(__VA_ARGS__))

/// Of a function: its caller holds this, before and after.
#define SINTER_REQUIRES(...) SINTER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// Of a function: its caller does not hold this, which it takes itself.
#define SINTER_EXCLUDES(...) SINTER_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// Of a function: it takes this (no argument: the object itself), and its caller holds it afterwards.
#define SINTER_ACQUIRE(...) SINTER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
/// Of a function: its caller holds this, and afterwards does not.
#define SINTER_RELEASE(...) SINTER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
/// Of a function that returns `result`, its first argument, where it has taken this.
#define SINTER_TRY_ACQUIRE(...) SINTER_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/// Of a function: it is not looked at. Its comment says why it is right.
#define SINTER_NO_THREAD_SAFETY_ANALYSIS SINTER_THREAD_ATTRIBUTE(no_thread_safety_analysis)
