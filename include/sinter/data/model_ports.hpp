// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/array.hpp>
#include <sinter/graph/port_info.hpp>

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

} // namespace sinter::data
