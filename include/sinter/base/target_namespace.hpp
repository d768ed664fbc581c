// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/compiler_options.hpp>

/// SINTER_TARGET: the inline namespace of everything whose code or layout depends on what a file is
/// compiled for. Headers outside base/ open `namespace sinter::inline SINTER_TARGET {` (or
/// `...::cpu {`), and users write `sinter::` as ever. Two files of one program that are compiled
/// for different processors thus have different functions and types: neither calls the other's, and
/// handing a model from one to the other does not link. What such files may hand to each other is
/// in base/ (errors, spans, batches made by hand): it is the same for all.
///
/// The name says the instructions, and the number of parts (SINTER_PARTS), for instance `avx512_8`.
/// Whatever macro a header looks at must be in it; test/tools/namespaces.sh checks the spelling.
#if defined(__AVX512F__)
#define SINTER_VECTORS avx512
#elif defined(__AVX2__)
#define SINTER_VECTORS avx2
#elif defined(__AVX__)
#define SINTER_VECTORS avx
#elif defined(__SSE2__)
#define SINTER_VECTORS sse2
#elif defined(__SSE__)
#define SINTER_VECTORS sse
#elif defined(__aarch64__)
#define SINTER_VECTORS neon
#else
#define SINTER_VECTORS plain
#endif

// What goes without saying (AVX2 has FMA and BMI2 in all processors) is told only where it is
// missing, or more than usual.
#if defined(__AVX2__) && !defined(__FMA__)
#define SINTER_FMA _nofma
#elif defined(__FMA__) && !defined(__AVX2__)
#define SINTER_FMA _fma
#else
#define SINTER_FMA
#endif
#if defined(__AVX2__) && !defined(__BMI2__)
#define SINTER_BITS _nobmi
#elif defined(__BMI2__) && !defined(__AVX2__)
#define SINTER_BITS _bmi
#else
#define SINTER_BITS
#endif
#if defined(__AVX512BF16__) && (defined(__AMX_BF16__) || defined(__AMXBF16__))
#define SINTER_PAIRS _amx
#elif defined(__AVX512BF16__)
#define SINTER_PAIRS _bf16
#else
#define SINTER_PAIRS
#endif
#ifdef SINTER_PROFILE
#define SINTER_MEASURES _timed
#else
#define SINTER_MEASURES
#endif
#if defined(__clang__) && !defined(__CUDACC__)   // vectors of comparisons and shuffles are spelled otherwise
#define SINTER_COMPILER _clang
#else
#define SINTER_COMPILER
#endif

#ifdef _GLIBCXX_DEBUG   // vectors and maps have other members
#define SINTER_CONTAINERS _checked
#else
#define SINTER_CONTAINERS
#endif

#ifdef SINTER_SEPARATE_COMPILATION   // else templates of both forms had one name, and other functions within
#define SINTER_FORM _apart
#else
#define SINTER_FORM
#endif

#define SINTER_JOIN_NAME(vectors, fma, bits, pairs, measures, compiler, containers, form, parts) \
    vectors##fma##bits##pairs##measures##compiler##containers##form##_##parts
#define SINTER_NAME(...) SINTER_JOIN_NAME(__VA_ARGS__)
#define SINTER_TARGET                                                                                                 \
    SINTER_NAME(SINTER_VECTORS, SINTER_FMA, SINTER_BITS, SINTER_PAIRS, SINTER_MEASURES, SINTER_COMPILER,              \
                SINTER_CONTAINERS, SINTER_FORM, SINTER_PARTS)

/// SINTER_ORDINARY: the inline namespace of ordinary code, which no model's type changes and no vector width: files,
/// data, connections, servers, the loop of training. Where it is in headers it is compiled like the rest, and is in
/// SINTER_TARGET. Where it is compiled apart (base/separate_compilation.hpp) one library serves files for any
/// processor, so its name says none. What files of both ways hand to each other does not link: `ordinary` and
/// `avx2_apart_8` here, `avx2_8` there. A named namespace is either of ordinary code or of the target's: one that were
/// both would be ambiguous.
#if defined(SINTER_SEPARATE_COMPILATION)
#define SINTER_JOIN_ORDINARY(containers) ordinary##containers
#define SINTER_ORDINARY_NAME(containers) SINTER_JOIN_ORDINARY(containers)
#define SINTER_ORDINARY SINTER_ORDINARY_NAME(SINTER_CONTAINERS)
#else
#define SINTER_ORDINARY SINTER_TARGET
#endif

namespace sinter {
namespace base {}
inline namespace SINTER_TARGET {}
inline namespace SINTER_ORDINARY {
namespace io { using namespace base; }
namespace npy { using namespace base; }
namespace npz { using namespace base; }
namespace safetensors { using namespace base; }
namespace collective { using namespace base; }
// What is known of a program at run time, without its type.
namespace facts { using namespace base; }
namespace onnx { using namespace base; using namespace facts; }
// What sessions are made of that no program changes: strategy/'s ordinary code, and plain buffers of device/.
namespace session_parts { using namespace base; using namespace facts; }
// The loop of training, evaluation, checkpoints: what sees a model by an interface.
namespace training_parts { using namespace base; using namespace facts; using namespace session_parts; }
} // namespace SINTER_ORDINARY
inline namespace SINTER_TARGET {

// `using namespace sinter` shows what users write. The machinery has namespaces of its own: what a
// program is made of before it runs (graph/, compiler/) is in `compiler`, what runs it (kernel/,
// device/) in `runtime`, what strategies are made of in `strategy_parts`, what helps one other header
// or folder in `detail`. These see each other's names, and so do the namespaces of kernels, files and
// profiles; test/tools/public_names.sh has the others.
namespace compiler { using namespace base; }
namespace runtime { using namespace base; using namespace session_parts; using namespace compiler; }
namespace compiler { using namespace runtime; }
namespace detail {
using namespace base;
using namespace compiler;
using namespace runtime;
using namespace training_parts;
}
namespace strategy_parts {
using namespace base;
using namespace session_parts;
using namespace compiler;
using namespace runtime;
using namespace detail;
}
namespace cpu { using namespace base; using namespace compiler; using namespace runtime; }
namespace gpu { using namespace base; using namespace compiler; using namespace runtime; }
namespace profile { using namespace base; using namespace compiler; using namespace runtime; }

} // namespace SINTER_TARGET
} // namespace sinter
