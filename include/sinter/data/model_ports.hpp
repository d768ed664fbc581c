// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/graph/port_info.hpp>
#include <type_traits>

/// What a model says to pipelines whose elements are structs, before it knows anything else of them.
namespace sinter::inline SINTER_ORDINARY::data {

class pipeline;

/// A model's inputs, and what its loss takes: targets, and weights of the examples. Who only predicts has no targets,
/// and leaves out the fields that are not inputs.
struct model_ports {
    base::view<const port_info> inputs, targets;
    bool predicts = false;
};

/// Batches of structs, tuples or numbers (data/batches.hpp): what `stages | data::batch(64)` is.
template <class Stages>
class batches;

/// The pipeline of such batches for a model of these ports: each field of an element is the column of one port, the one
/// of its name, or the next one without a name. It is kept in `b`, so that a second call goes on where the first one
/// was. Does not compile where fields do not fit the ports.
template <const model_ports& Ports, class Stages>
pipeline& pipeline_for(batches<Stages>& b);

/// Batches of which each worker of a job makes its own (data/per_worker.hpp).
template <class F>
class per_worker_batches;

/// The same of worker number `index` of `count`.
template <const model_ports& Ports, class F>
pipeline& pipeline_for(per_worker_batches<F>& b, int index, int count);

template <class T>
inline constexpr bool is_per_worker = false;
template <class F>
inline constexpr bool is_per_worker<per_worker_batches<F>> = true;
template <class T>
inline constexpr bool is_of_batches = is_per_worker<T>;
template <class Stages>
inline constexpr bool is_of_batches<batches<Stages>> = true;
/// Either of them, as a model's calls take them.
template <class T>
concept batches_of_elements = is_of_batches<std::remove_cvref_t<T>>;

} // namespace sinter::data
