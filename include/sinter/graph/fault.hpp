// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/shape.hpp>
#include <sinter/graph/op.hpp>

/// The first thing that went wrong while an expression was traced.
namespace sinter::inline SINTER_TARGET {

/// What may be wrong with a net; doc/errors.md has a row for each.
enum class fault_kind : std::uint8_t {
    none,
    inner_extents_differ,   ///< matmul or dense: what is summed over has two different extents
    shapes_not_broadcastable,
    batched_ranks_differ,    ///< both operands have a batch, and one has more axes: which of its axes meet is unclear
    einsum_not_understood,   ///< a string that does not say what einsum shall do
    heads_do_not_fit,   ///< attention: extents that are no multiple of the heads, or heads of those of keys and values
    segments_do_not_fit,   ///< attention: not an int32 for each row, lengths beside them, or other keys than queries
    dropout_rate_refused,          ///< attention: a share of probabilities to drop that is not at least 0 and below 1
    needs_height_width_channels,   ///< a convolution or pool of something that is no image
    needs_steps,                   ///< a recurrent layer of something that is no sequence [T, features]
    window_larger_than_input,      ///< a kernel larger than its padded input
    window_out_of_range,           ///< a window or stride below one, a max-pool's window above 15, or a convolution's
                                   ///< taps, stride, dilation or padding above 16 bits
    dilation_refused,              ///< a pool whose window has holes
    padding_refused,   ///< negative padding, causal padding of more than one axis, or a pool's place in it alone
    groups_do_not_divide_channels,   ///< a convolution's groups must divide its input and its output channels
    sizes_differ,                    ///< reshape to another number of elements
    concat_extents_differ,
    axis_out_of_range,
    batch_axis_refused,   ///< an op that cannot work along the batch
    labels_do_not_fit_predictions,
    loss_must_declare_class_index_targets,   ///< class numbers are compared, and the loss is given floats
    loss_must_declare_float_targets,         ///< floats are compared, and the loss is given integers
    parameter_name_used_twice,
    port_name_used_twice,    ///< two inputs, outputs or targets, or an input and an output
    some_ports_without_names,   ///< inputs or targets of which others have names, or more names than targets
    name_of_no_output,       ///< output<...> of a tensor that the net does not give
    no_parameter_matches,   ///< a pattern, which stands in the layer's place
    trained_in_no_phase,    ///< a parameter that none of the phases of `alternating` trains
    wrong_number_of_inputs,
    loss_takes_one_output,   ///< and the net gives several
    extents_not_positive,
    input_missing,         ///< a net that does not begin with what it is given
    loss_missing,          ///< a model is trained without one
    loss_holds_values,     ///< a loss with members or captures, of which its type knows nothing
    loss_not_scalar,       ///< a loss without a batch axis that is more than one number, or is no tensor
    loop_value_outside,    ///< a value of a loop's iteration used outside of its body, or in another loop
    branches_disagree,     ///< the two sides of a cond give different extents
    carry_changes_shape,   ///< what a loop hands on must keep its extents
    no_loop_here,          ///< a loop within a loop, or within a checkpoint
    wrong_element_type,
    tensor_too_large,       ///< more than 2^31 - 1 elements, in one example or without a batch
    places_beyond_floats,   ///< more places than floats have integers, 2^24, where floats name them
    no_gradient,            ///< an op without a gradient, most often one that is itself a gradient
    assigned_twice,         ///< a state has one new value a step
    not_a_state,            ///< only states are assigned to
    undeclared_slot,        ///< an optimizer's update uses more slots, or scalars, than it declares
    undeclared_scalar,
    does_not_depend,         ///< the gradient of a tensor by another that it is not made of
    gradient_through_loop,   ///< a gradient within a net, through a loop that lies between the two tensors
    lookup_is_computed,      ///< a table elsewhere, on servers, is looked up by numbers that the net computes
    hashed_table_without_servers,   ///< hashed_embedding in a program that no server keeps tables for
    tensor_has_no_value,     ///< C++'s own operators compare one, as in an `if`, or index it, while a net is traced
    program_too_large        ///< more scopes than their table holds, or more nodes than compilers can work through
};

/// What is wrong, in which op, below which path of scopes, and the extents got and needed.
struct fault {
    static constexpr int max_path = 96;
    fault_kind what = fault_kind::none;
    op_name where = op::none;
    int path_length = 0;
    char path[max_path] = {};
    shape got, needed;
};

} // namespace sinter
