// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/gather_rows.hpp>
#include <sinter/compiler/emit/launch_writer.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>

/// An optimizer alone: the kernels of its updates without a net around them, for servers that keep
/// parameters and know no model. They are those of a training program's sweeps, with the same bits;
/// what they go over, and how much of it, is said when they run.
namespace sinter::inline SINTER_TARGET::compiler {

/// Operands of its launches are ports: those of an optimizer's code (emit/update_set.hpp) and, for
/// a list of rows, its keys; its rows are the gradient.
inline constexpr int keys_operand = first_sum_operand + update_context::most_sums;

/// What is launched for the parameters of one group, by number; -1: nothing.
struct update_launches {
    int sums[most_sum_levels] = {-1, -1, -1};   ///< over rows of 16 floats, before the update
    int stretch = -1;                           ///< over floats as they lie
    int rows = -1;                              ///< over a list of rows
};

/// What kernel_table makes kernels of, and who runs them looks at.
template <int Launches>
struct update_program_value {
    spec specs[std::size_t{Launches}];
    std::uint64_t code[std::size_t{Launches * (most_update_instructions + 2)}] = {};
    launch launches[std::size_t{Launches}];
    address args[std::size_t{Launches * 20}];
    std::int64_t extents[std::size_t{Launches * extent::count}] = {};
    float constants[std::size_t{Launches * 32}] = {};
    loop_launches loops[1];
    loop_buffer buffers[1];
    update_launches of_group[64];
    int squares = -1, total = -1;   ///< of a tensor's gradient; the sum of what all tensors have
    int n_specs = 0, n_launches = 0, max_batch = 1;
};

/// `TableGroups`: bit g is set where parameters of group g are tables that are updated by rows.
template <class Optimizer, target T, std::uint64_t TableGroups>
struct update_program {
    static constexpr sinter::compiler::target target = T;
    static constexpr update_set update = sinter::detail::update_of<Optimizer>::make();
    static constexpr int groups = update.groups.n;
    static_assert(groups <= 64, "an optimizer of more than 64 groups of parameters");

private:
    using value = update_program_value<groups * (2 + most_sum_levels) + 2>;

    struct writer {
        graph g;
        grouping none{};
        listing list;
        launch_writer write;

        constexpr explicit writer(value& p)
            : list{{p.specs}, {p.code}, {p.launches}, {p.args}, {p.extents}, {p.constants}, {p.loops}, {p.buffers}},
              write(with_one_node(g), none, nullptr, T, 1, list) {}

        /// Node 0 stands for a row of a list.
        static constexpr graph_view with_one_node(graph& g) {
            make<op::optimizer_port>(&g, sinter::extents(1024), {}, {1});
            graph_view one;
            one.n = {g.n.p, g.n.n};
            return one;
        }
        constexpr void begin(shape space) {
            group q;
            q.space = space;
            write.body.begin(q);
        }
        constexpr int finish(op_id kind, op_role role = op_role::none) {
            spec s;
            launch l;
            s.kind = kind;
            l.role = role;
            l.m = 1024;
            write.finish(s, l, 0);
            return list.launches.n - 1;
        }
        constexpr int sums(const update_code& code) {
            begin(sinter::extents(64, 16));
            write.body.splice(-1, code, [](int port) { return port_address(port); });
            return finish(walk::rows);
        }
        constexpr int stretch(const update_code& code) {
            begin(sinter::extents(1024));
            write.body.splice(-1, code, [](int port) { return port_address(port); });
            return finish(walk::flat);
        }
        constexpr int rows(const update_code& code) {
            begin(sinter::extents(64, 16));
            write.body.operand(port_address(keys_operand));
            write.body.operand(port_address(1));
            write.body.accumulator(0);
            write.body.splice(0, code, [](int port) { return port_address(port); });
            std::int64_t* const e = write.extents();
            e[scatter_rows_extent::lazy] = 1;
            e[scatter_rows_extent::body_reads] = scatter_rows_sums::listed;
            return finish(op::scatter_rows, op_role::scatter_rows);
        }
        constexpr int squares() {
            begin(sinter::extents(64, 16));
            write.body.sum_of_squares(port_address(1), port_address(first_sum_operand));
            return finish(walk::rows);
        }
        constexpr int total() {
            begin(sinter::extents(64, 16));
            write.body.sum_of(port_address(1), port_address(first_sum_operand));
            return finish(walk::rows);
        }
    };
    static constexpr value written() {
        value p;
        writer w(p);
        for (int k = 0; k < groups; ++k) {
            const group_update& of = update.groups[k];
            if (!of.last.code.n) continue;
            for (int i = 0; i < of.levels; ++i) p.of_group[k].sums[i] = w.sums(of.sums[i]);
            p.of_group[k].stretch = w.stretch(of.last);
            if (TableGroups >> k & 1u) p.of_group[k].rows = w.rows(of.last);
        }
        if (update.needs_norm()) {
            p.squares = w.squares();
            p.total = w.total();
        }
        p.n_specs = w.list.specs.n;
        p.n_launches = w.list.launches.n;
        return p;
    }

public:
    static constexpr value v = written();
    static constexpr int n_specs = v.n_specs;
};

} // namespace sinter::compiler
