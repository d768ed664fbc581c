// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/train/not_finite.hpp>
#include <sinter/train/saved_names.hpp>
#include <sinter/train/trainer.hpp>

/// Saving and loading a trainer: weights and states by their paths, in their plain forms; the optimizer's memory under
/// `optimizer/0/...`, and the number of steps done under `step`, so that a run that is killed and resumed ends where an
/// undisturbed one does.
namespace sinter::inline SINTER_TARGET {

enum class saved { whole, weights };   ///< all that resuming needs, or only what prediction needs
enum class not_finite { refused, saved };   ///< what save() does about weights and states that are infinite or NaN

namespace detail {

/// The beginning of a path, known while compiling.
struct path_start {
    char c[12] = {};
    int n = 0;
    constexpr void add(const char* part) {
        if (n && n < 11) c[n++] = '/';
        while (*part && n < 11) c[n++] = *part++;
    }
    constexpr void add_scope(view<const scope_entry> scopes, int s) {
        if (s <= 0) return;
        add_scope(scopes, scopes[s].parent);
        add(scopes[s].name);
        if (scopes[s].number && n < 11) c[n++] = '_';   // optimizer_1 is another name, whatever follows
    }
    constexpr std::string_view text() const { return {c, static_cast<std::size_t>(n)}; }
};

} // namespace detail

/// Whether no variable of the trainer's has a name that files keep for themselves: `step`, or one under `optimizer/`.
template <class Trainer>
constexpr bool names_are_free() {
    const auto taken = [](const variable_info& v) {
        detail::path_start path;
        path.add_scope(Trainer::training::scopes, v.scope);
        path.add(v.name);
        return detail::is_for_resuming(path.text());
    };
    for (int i = 0; i < Trainer::training::v.n_parameters; ++i)
        if (taken(Trainer::training::v.parameters[i])) return false;
    for (int i = 0; i < Trainer::training::v.n_states; ++i)
        if (taken(Trainer::training::v.states[i])) return false;
    return true;
}

namespace detail {

struct saved_variable {
    std::string name;
    const variable_info* v;
    int slot;   ///< -1: the variable itself
};
template <class Trainer>
SINTER_COLD std::vector<saved_variable> saved_variables(saved what) {
    static_assert(names_are_free<Trainer>(), "files keep the name `step` and all names under `optimizer/` for themselves: "
                                             "call that parameter, state or layer something else");
    std::vector<saved_variable> all;
    auto add = [&](const variable_info& v, int slot) {
        const std::string path = Trainer::path(v);
        all.push_back({slot < 0 ? path : joined({"optimizer/", slot, "/", path}), &v, slot});
    };
    for (int i = 0; i < Trainer::parameters(); ++i) add(Trainer::parameter(i), -1);
    for (int i = 0; i < Trainer::states(); ++i) add(Trainer::state(i), -1);
    if (what == saved::whole)
        for (int s = 0; s < Trainer::training::v.slots; ++s)
            for (int i = 0; i < Trainer::parameters(); ++i)
                if (s < Trainer::slots_of(Trainer::parameter(i))) add(Trainer::parameter(i), s);
    return all;
}

/// save(), and what else `entries` has.
template <class Trainer>
SINTER_COLD void save_with(std::vector<safetensors::entry> entries, const Trainer& t, const std::string& path, saved what,
                           not_finite allow = not_finite::refused) {
    if (allow == not_finite::refused) need_finite_weights(t, joined({"save, ", path}).c_str());
    const auto variables = saved_variables<Trainer>(what);
    std::vector<std::vector<float>> values(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const saved_variable& s = variables[i];
        values[i] = s.slot < 0 ? t.plain(*s.v) : t.plain_slot(*s.v, s.slot);
        entries.push_back({s.name, safetensors::dtype::f32, extents_of(s.v->s), values[i].data()});
    }
    const std::int64_t steps = t.steps();
    if (what == saved::whole) entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
    if constexpr (requires { t.phase_steps(); })   // losses that alternate count by themselves
        if (what == saved::whole)
            entries.push_back({"optimizer/steps", safetensors::dtype::i64, {Trainer::phases}, t.phase_steps().data()});
    safetensors::write(path, std::move(entries), {{"format", "sinter"}});
}
/// load() of a file that was read, which must also hold what is `expected`.
template <class Trainer>
SINTER_COLD void load_with(std::vector<safetensors::expected_tensor> expected, const safetensors::file& f, Trainer& t,
               const std::string& path) {
    const bool whole = f.tensors.contains("step");
    const auto variables = saved_variables<Trainer>(whole ? saved::whole : saved::weights);
    for (const saved_variable& s : variables) expected.push_back({s.name, safetensors::dtype::f32, extents_of(s.v->s)});
    if (whole) expected.push_back({"step", safetensors::dtype::i64, {}});
    constexpr bool alternates = requires { t.phase_steps(); };
    if constexpr (alternates)
        if (whole) expected.push_back({"optimizer/steps", safetensors::dtype::i64, {Trainer::phases}});
    safetensors::check_matches(expected, f);
    std::int64_t steps = 0;
    if (whole) {
        std::memcpy(&steps, f.at("step").data.data(), sizeof steps);
        if (steps < 0) throw format_error("number of steps", joined({path, ", tensor step"}), joined({steps}), "0 or more");
    }
    if constexpr (alternates)
        if (whole) {
            auto done = t.phase_steps();
            std::memcpy(done.data(), f.at("optimizer/steps").data.data(), sizeof done);
            for (const std::int64_t n : done)
                if (n < 0)
                    throw format_error("number of steps", joined({path, ", tensor optimizer/steps"}), joined({n}), "0 or more");
            t.set_phase_steps(done);
        }
    for (const saved_variable& s : variables) {
        std::vector<float> x(static_cast<std::size_t>(s.v->s.size()));
        std::memcpy(x.data(), f.at(s.name).data.data(), x.size() * sizeof(float));   // the file's bytes may lie anywhere
        if (s.slot < 0) t.set_plain(*s.v, x.data());
        else t.set_plain_slot(*s.v, s.slot, x.data());
    }
    if (whole) t.set_steps(steps);
}

} // namespace detail

/// Writes a safetensors file; the old one stays as it is until the new one is safely on disk. Throws io_error; data_error where
/// a weight or a state is infinite or NaN, and the old file stays, unless these are asked for.
template <class Trainer>
void save(const Trainer& t, const std::string& path, saved what = saved::whole, not_finite allow = not_finite::refused) {
    detail::save_with({}, t, path, what, allow);
}

/// Reads what save() wrote (or weights of the same names, shapes and types from elsewhere). Throws format_error,
/// io_error, or mismatch_error that names every tensor that is missing, unexpected or different; the trainer is then
/// as it was. A file with weights only leaves the optimizer's memory and the step alone.
template <class Trainer>
void load(Trainer& t, const std::string& path) {
    detail::load_with({}, safetensors::read(path), t, path);
}

} // namespace sinter
