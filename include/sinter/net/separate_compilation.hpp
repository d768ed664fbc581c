// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What several processes need (rosters, connections, collective operations) is the same for all
/// models, and as much code as a small model. So programs may compile it once, in a file of its
/// own: they define SINTER_SEPARATE_COMPILATION in all of their files, and one of these includes
/// <sinter/distributed_source.hpp>. The others then need neither Asio's nor OpenSSL's headers.
/// Otherwise every file that uses it compiles it, as anything else of Sinter.
///
/// SINTER_BODIES says whether a file has the functions' bodies; SINTER_APART stands before each of
/// these functions, where it is declared and where it is defined.
#if !defined(SINTER_SEPARATE_COMPILATION)
#define SINTER_BODIES 1
#define SINTER_APART inline
#elif defined(SINTER_COMPILES_BODIES)   // by distributed_source.hpp
#define SINTER_BODIES 1
#define SINTER_APART __attribute__((weak))   // a library and a program may each have such a file
#else
#define SINTER_BODIES 0
#define SINTER_APART
#endif
