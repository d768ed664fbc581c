// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/compiler/emit/update_program.hpp>
#include <sinter/compiler/program.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/device/cpu/update_kernels.hpp>
#include <sinter/parameter_server/placement.hpp>
#include <sinter/parameter_server/updater.hpp>
#include <algorithm>
#include <memory>
#include <vector>

/// An optimizer on servers: its kernels, and which of a program's floats they are for.
namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Is a parameter of program P a table that servers keep and update by rows?
template <class P>
constexpr bool is_table(const variable_info& v) {
    return v.remote || (v.bucket >= 0 && P::v.buckets[v.bucket].is_list());
}
/// Bit g: parameters of group g are such tables.
template <class P>
constexpr std::uint64_t groups_of_tables() {
    std::uint64_t groups = 0;
    for (int i = 0; i < P::v.n_parameters; ++i)
        if (const variable_info& v = P::v.parameters[i]; v.group >= 0 && is_table<P>(v))
            groups |= std::uint64_t{1} << v.group;
    return groups;
}

/// A parameter as the training program has it whose step updates it: of several, where losses
/// alternate.
struct trained_parameter {
    const variable_info* v = nullptr;
    int phase = 0;          ///< the program's number
    bool is_table = false;
};
/// Parameter k of these programs; of the first where none trains it.
template <class... Ps>
constexpr trained_parameter training_of(int k) {
    trained_parameter found;
    int phase = 0;
    const auto look = [&]<class P>(const P*) {
        const variable_info& v = P::v.parameters[k];
        if (!found.v || (found.v->bucket < 0 && v.bucket >= 0)) found = {&v, v.bucket >= 0 ? phase : 0, is_table<P>(v)};
        ++phase;
    };
    (look(static_cast<const Ps*>(nullptr)), ...);
    return found;
}

/// Strategies with servers name it: one error where no server can do what an optimizer does.
template <class Optimizer, std::uint64_t TableGroups>
struct check_servers_can_update {
    using code = update_of<Optimizer>;
    static_assert(sizeof(compiler::check_model<typename verdict<code>::type>) > 0);
    static_assert(code::fits,
                  "the optimizer's update does not fit into one kernel: it must be elementwise and shorter");
    static_assert(compiler::batches_of<Optimizer>() == 1,
                  "parameter_server: accumulate<N> gathers gradients in a slot of its own, but servers update by each "
                  "push; take parameter_server's option push_every instead");
    static constexpr bool sums_over_tables() {
        for (int k = 0; k < compiler::groups_of<Optimizer>() && k < 64; ++k)
            if ((TableGroups >> k & 1u) && code::groups[k].levels) return true;
        return false;
    }
    static constexpr bool draws() {
        for (const compiler::group_update& g : code::groups)
            for (int i = 0; i < g.last.code.n; ++i)
                if (compiler::instruction::unpack(g.last.code[i]).is(op::random_uniform)) return true;
        return false;
    }
    static_assert(!draws(), "parameter_server: this optimizer draws random numbers, which are of a step's number and "
                            "of an element's place in a program's memory; servers have neither");
    static_assert(!sums_over_tables(),
                  "parameter_server: this optimizer takes norms of whole tensors (as lamb, max_norm and clip_by_norm "
                  "do), but the rows of a table lie on several servers; give tables an optimizer of their own by "
                  "parameter_groups");
};

template <class Optimizer, compiler::target Target, std::uint64_t TableGroups>
class optimizer_updater final : public parameter_servers::updater {
    using program = compiler::update_program<Optimizer, Target, TableGroups>;
    using kernels = runtime::update_kernels<program>;
    static constexpr bool needs_norm = program::update.needs_norm();

public:
    explicit optimizer_updater(const Optimizer& o) : optimizer_(o) {}

    int scalars() const override { return Optimizer::n_scalars; }
    int slots(int group) const override { return group < 0 ? 0 : Optimizer::slots; }
    void first_slot(int group, int slot, float* to, const float* parameter, std::int64_t n) const override {
        if (copies_parameter(group, slot)) std::copy_n(parameter, n, to);
        else std::fill_n(to, n, compiler::first_of_slot(optimizer_, group, slot));
    }
    bool copies_parameter(int group, int slot) const override {
        return compiler::copies_parameter<Optimizer>(group, slot);
    }
    parameter_servers::norm_need needs() const override {
        if (needs_norm) return parameter_servers::norm_need::all_gradients;
        for (const compiler::group_update& g : compiler::update_set(program::update).groups)
            if (g.levels) return parameter_servers::norm_need::whole_tensors;
        return parameter_servers::norm_need::none;
    }
    void update(int group, float* p, const float* g, float* slots, std::int64_t stride, std::int64_t n,
                const float* scalars, float square_sum) const override {
        if (group >= 0) kernels::update(group, {p, g, slots, stride, scalars, &square_sum}, n);
    }
    void update_rows(int group, float* table, float* slots, std::int64_t stride, const row_list& gradients,
                     const float* scalars, float square_sum) const override {
        if constexpr (TableGroups != 0)
            if (group >= 0)
                kernels::update_rows(group, {table, nullptr, slots, stride, scalars, &square_sum}, gradients);
    }
    float squares(const float* gradient, std::int64_t n) const override {
        if constexpr (needs_norm) return kernels::squares(gradient, n);
        else return updater::squares(gradient, n);
    }
    float squares(const row_list& gradient) const override {
        if constexpr (needs_norm) return kernels::squares(gradient);
        else return updater::squares(gradient);
    }
    float total(const float* squares, int parameters) const override {
        if constexpr (needs_norm) return kernels::total(squares, parameters);
        else return updater::total(squares, parameters);
    }

private:
    Optimizer optimizer_;
};

/// What servers' kernels are planned for: servers work on processors, whatever device their workers have.
template <class Device>
inline constexpr compiler::target servers_target = Device::shares_memory ? Device::target : cpu_device::target;

/// The optimizer's kernels for servers, with the bits of a trainer's updates on a processor. P: a worker's
/// training program, of which the groups of its tables count. What servers cannot do (accumulate; norms of whole
/// tables) is an error while compiling.
template <class P, class Optimizer, compiler::target Target = P::request::target>
std::unique_ptr<parameter_servers::updater> make_updater(const Optimizer& o) {
    constexpr std::uint64_t tables = strategy_parts::groups_of_tables<P>();
    static_assert(sizeof(strategy_parts::check_servers_can_update<Optimizer, tables>) > 0);
    return std::make_unique<strategy_parts::optimizer_updater<Optimizer, Target, tables>>(o);
}

/// What servers keep of program P's parameters, but for tables that they update by rows, as
/// parameter_servers::place takes it: in memory's order, stretches as long as one kernel's update may be.
/// P has gradient_policy::reduced, and Optimizer's groups of parameters. Tensors stay whole where
/// Optimizer sums over them, and `sums_on_servers`: also where it takes the norm of all gradients,
/// which servers must then sum tensor by tensor (a single trainer's bits), since no worker has the
/// gradient of a step. `Others`: programs of further losses that alternate with P's, each of which
/// trains parameters of its own.
template <class P, class Optimizer, class... Others>
std::vector<parameter_servers::block> blocks_of(bool sums_on_servers = false) {
    constexpr compiler::update_set u = detail::update_of<Optimizer>::make();
    std::vector<parameter_servers::block> out;
    for (int k = P::v.n_parameters - 1; k >= 0; --k) {   // as they lie under gradient_policy::reduced
        const strategy_parts::trained_parameter of = strategy_parts::training_of<P, Others...>(k);
        const variable_info& v = *of.v;
        if (of.is_table) continue;
        const bool updated = v.bucket >= 0;
        parameter_servers::block b{v.at.offset(), 0, base::round_up(v.floats, parameter_servers::line_floats), -1, -1,
                                   v.bucket};
        if (updated) {
            b.gradient = v.gradient.offset();
            b.group = v.group;
            b.phase = of.phase;
            if (u.groups[v.group].levels || (sums_on_servers && u.needs_norm())) b.tensor = k;
        }
        if (!out.empty() && b.tensor < 0) {
            parameter_servers::block& last = out.back();
            const bool follows = last.parameter + last.floats == b.parameter &&
                                 (!updated || last.gradient + last.floats == b.gradient);
            if (follows && last.tensor < 0 && last.group == b.group && last.bucket == b.bucket &&
                last.phase == b.phase) {
                last.floats += b.floats;
                continue;
            }
        }
        out.push_back(b);
    }
    return out;
}

} // namespace sinter::strategy_parts
