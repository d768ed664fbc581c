// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/train/checkpoint/saved_variables.hpp>
#include <sinter/train/checkpoint/shared_file.hpp>
#include <sinter/train/checkpoint/table_files_calls.hpp>
#include <string>
#include <vector>

/// What save() and load() do (train/checkpoint/checkpoint.hpp), for a trainer of any type.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Takes all tensors, which end with the call, and what else the file is to say.
using checkpoint_writer = base::function_ref<void(std::vector<safetensors::entry>&&, safetensors::metadata_map&)>;

/// error, on every member, where an exchange with averages broke off on any of them.
SINTER_SELDOM SINTER_COLD void need_whole_weights_of_all(const trainer_state& t, const char* where);

/// What save() hands to `write(entries, metadata)`: the trainer's, and what else `entries` has.
/// `path`: of the file that comes of it, if one does. `beside`: tables that servers keep are not in it,
/// if the servers can write them into files beside it (table_files.hpp).
SINTER_SELDOM SINTER_COLD void write_checkpoint(std::vector<safetensors::entry> entries, const trainer_state& t,
                                                saved what, checkpoint_writer write, const std::string& path = {},
                                                not_finite allow = not_finite::refused, bool beside = false);
/// The same into that file, by the chief.
SINTER_SELDOM SINTER_COLD void write_checkpoint(std::vector<safetensors::entry> entries, const trainer_state& t,
                                                const std::string& path, saved what,
                                                not_finite allow = not_finite::refused);

/// load() of what was read, which must also hold what is `expected`. All that can fail comes before
/// the first change; `further()` is the last of it. Not so rows of tables of 64-bit keys, which are
/// read, and go to who keeps them, when all else is in its place.
SINTER_SELDOM SINTER_COLD void read_checkpoint(std::vector<safetensors::expected_tensor> expected,
                                               const safetensors::contents& f, trainer_state& t, saved what,
                                               base::function_ref<void()> further);
SINTER_SELDOM SINTER_COLD void read_checkpoint(std::vector<safetensors::expected_tensor> expected,
                                               const safetensors::contents& f, trainer_state& t, saved what);

/// A file of a trainer that has tables of 64-bit keys, which are left there.
SINTER_SELDOM SINTER_COLD safetensors::file open_trainers_file(const trainer_facts& facts, const std::string& path);
/// f(contents) of the file that the chief opens so (shared_file.hpp), or does not find.
SINTER_SELDOM SINTER_COLD void with_opened_file(session_base& s, const trainer_facts& facts, const std::string& path,
                                                saved what, base::function_ref<std::optional<safetensors::file>()> open,
                                                with_contents f);
/// f(contents) of the chief's file, of which tables of 64-bit keys need not fit in memory.
SINTER_SELDOM SINTER_COLD void with_trainers_file(session_base& s, const trainer_facts& facts, const std::string& path,
                                                  saved what, with_contents f);

SINTER_SELDOM SINTER_COLD void save(const trainer_state& t, const std::string& path, saved what = saved::whole,
                                    not_finite allow = not_finite::refused);
SINTER_SELDOM SINTER_COLD std::vector<std::byte> save_to_memory(const trainer_state& t, saved what, not_finite allow);
SINTER_SELDOM SINTER_COLD void load(trainer_state& t, const std::string& path, saved what = saved::whole);
SINTER_SELDOM SINTER_COLD void load(trainer_state& t, span<const std::byte> bytes, saved what);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/strategy/table_calls.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/not_finite.hpp>
#include <cstring>
#include <memory>
#include <optional>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY void need_whole_weights_of_all(const trainer_state& t, const char* where) {
    if (!t.facts.keeps_averages) return;
    bool any = t.weights_are_mixed();
    session_base& session = t.session();
    if (!is_alone(session)) by_the_same_members(session, [&] { any = of_any(session, t.weights_are_mixed()); });
    if (any) refuse_mixed(where);
}

SINTER_SELDOM_BODY void write_checkpoint(std::vector<safetensors::entry> entries, const trainer_state& t, saved what,
                                         checkpoint_writer write, const std::string& path, not_finite allow,
                                         bool beside) {
    need_whole_weights_of_all(t, path.empty() ? "save_to_memory" : to_text({"save, ", path}).c_str());
    const auto variables = saved_variables(t.facts, what);
    const std::unique_ptr<tables_to_save> tables = t.facts.tables ? t.facts.tables->to_save(t, path) : nullptr;
    table_files apart;
    beside = beside && tables && tables->save_beside(apart);
    const bool streams = !beside && !path.empty() && tables && tables->stream(variables);
    std::vector<std::vector<float>> values(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const saved_variable& s = variables[i];
        if (what == saved::weights && s.v->of_examples) continue;   // where sequences have come to is no weight
        if ((beside || streams) && s.v->remote) {
            if (const safetensors::entry_source* const rows = tables->next())
                entries.push_back({s.name, safetensors::dtype::f32, facts::extents_of(s.v->s), nullptr, rows});
            continue;
        }
        values[i] = t.plain(*s.v, s.slot);
        entries.push_back({s.name, safetensors::dtype::f32, facts::extents_of(s.v->s), values[i].data()});
    }
    if (tables && !beside) tables->add_hashed(entries, what == saved::whole, allow == not_finite::refused);
    const std::int64_t steps = t.steps();
    if (what == saved::whole) entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
    const std::vector<std::int64_t> phases = t.phase_steps();
    if (!phases.empty() && what == saved::whole)
        entries.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}, phases.data()});
    safetensors::metadata_map metadata{{"format", "sinter"}};
    if (what == saved::whole) metadata.emplace("seed", to_text({t.seed()}));
    if (beside) apart.add_to(metadata);
    if (what == saved::whole && t.facts.memory != nullptr) metadata.emplace("optimizer", t.facts.memory);
    write(std::move(entries), metadata);
}
SINTER_SELDOM_BODY void write_checkpoint(std::vector<safetensors::entry> entries, const trainer_state& t,
                                         const std::string& path, saved what, not_finite allow) {
    session_base& session = t.session();
    if (leaves_files_to_others(session)) return;
    if (allow == not_finite::refused) need_finite_weights(t, to_text({"save, ", path}).c_str());
    const auto write = [&](std::vector<safetensors::entry>&& all, const safetensors::metadata_map& metadata) {
        by_the_chief(session, "save", path, [&] { safetensors::write(path, std::move(all), metadata); });
    };
    write_checkpoint(std::move(entries), t, what, write, path, allow);
}

/// Throws mismatch_error unless `file` has just what is expected. It says how to load the weights
/// alone, where these fit, and otherwise what loads a part of them.
SINTER_SELDOM SINTER_COLD void check_fit(const trainer_facts& facts,
                                         const std::vector<safetensors::expected_tensor>& expected,
                                         const safetensors::contents& file, bool whole) {
    const std::vector<std::string> lines = safetensors::differences(expected, file);
    if (lines.empty()) return;
    bool weights_fit = whole;
    if (whole)
        for (const saved_variable& s : saved_variables(facts, saved::weights)) {
            const auto found = file.tensors.find(s.name);
            if (found == file.tensors.end() || found->second.type != safetensors::dtype::f32 ||
                found->second.shape != facts::extents_of(s.v->s))
                weights_fit = s.v->of_examples && weights_fit;
        }
    if (weights_fit)
        for (const auto& [name, tensor] : file.tensors)
            if (!is_for_resuming(name)) {
                bool known = false;
                for (const saved_variable& s : saved_variables(facts, saved::whole)) known = known || s.name == name;
                weights_fit = weights_fit && known;
            }
    std::string list = to_text(
        {"tensors do not fit the program, ", lines.size(), lines.size() == 1 ? " difference:" : " differences:"});
    for (const std::string& line : lines) (list += "\n  ") += line;
    list += weights_fit
                ? "\nIts weights fit. It is of another optimizer, or of sequences in batches of another size: to load "
                  "the weights alone, write load(..., saved::weights)"
                : "\nWeights by other names, of other frameworks, or some of them are loaded by load_weights(...) "
                  "(train/checkpoint/load_weights.hpp)";
    throw mismatch_error(std::move(list), file.source);
}
/// Values of tables that servers have written, for a trainer that keeps all of them itself.
SINTER_SELDOM SINTER_COLD void take_table_files(const table_files& from, const std::vector<saved_variable>& variables,
                                                const trainer_state& t, std::vector<packed_values>& to) {
    for (const saved_variable& s : variables) {
        const std::string path = t.facts.path(*s.v);
        if (!from.has(path)) continue;
        std::vector<float> x = t.first_values(*s.v, s.slot);
        read_table_files(from, path, s.slot, s.v->s.last(), x);
        to.push_back(t.packed(*s.v, x.data(), s.slot));
    }
}
SINTER_SELDOM_BODY void read_checkpoint(std::vector<safetensors::expected_tensor> expected,
                                        const safetensors::contents& f, trainer_state& t, saved what,
                                        base::function_ref<void()> further) {
    const std::string& path = f.source;
    const bool whole = what == saved::whole && f.tensors.contains("step");
    const auto variables = saved_variables(t.facts, whole ? saved::whole : saved::weights);
    // Where sequences have come to is no weight: a file may have it, of whatever batch, and it is
    // left alone.
    const std::optional<table_files> apart = table_files::of(f);
    const auto taken = [&](const saved_variable& s) {
        return (whole || !s.v->of_examples) && !(apart && apart->has(t.facts.path(*s.v)));
    };
    for (const saved_variable& s : variables)
        if (taken(s)) expected.push_back({s.name, safetensors::dtype::f32, facts::extents_of(s.v->s)});
    const std::unique_ptr<tables_to_load> tables =
        has_hashed_tables(t.facts) ? t.facts.tables->to_load() : nullptr;
    if (tables) tables->expect(t.facts, f, whole, expected);
    if (whole) expected.push_back({"step", safetensors::dtype::i64, {}});
    std::vector<std::int64_t> phases = t.phase_steps();
    if (!phases.empty() && whole)
        expected.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}});
    safetensors::contents own{f.source, {}, f.tensors};
    for (auto i = own.tensors.begin(); i != own.tensors.end();)
        i = is_of_a_run(i->first) ? own.tensors.erase(i) : std::next(i);
    if (!whole) {
        for (const saved_variable& s : variables)
            if (!taken(s)) own.tensors.erase(s.name);
        if (what == saved::weights)
            for (auto i = own.tensors.begin(); i != own.tensors.end();)
                i = is_for_resuming(i->first) ? own.tensors.erase(i) : std::next(i);
    }
    check_fit(t.facts, expected, own, whole);
    std::int64_t steps = 0;
    if (whole) {
        std::memcpy(&steps, f.at("step").data.data(), sizeof steps);
        if (steps < 0)
            throw format_error("number of steps", to_text({path, ", tensor step"}), to_text({steps}), "0 or more");
    }
    const auto seed = f.metadata.find("seed");   // older files have none
    const std::string our_seed = to_text({t.seed()});
    if (((whole && t.facts.draws_numbers) || apart) && seed != f.metadata.end() && seed->second != our_seed)
        throw mismatch_error(
            apart ? "the saved run drew the rows of its tables from another seed: those that no step has named are "
                    "in no file"
                  : "the saved run drew its random numbers from another seed: it would go on otherwise",
            path,
            to_text({"seed ", io::printable(seed->second)}),
            to_text({"the trainer's ", our_seed,
                    apart ? ": make it with that .seed"
                          : ": make it with that .seed, or write load(..., saved::weights)"}));
    const char* const ours = t.facts.memory;
    if (const auto theirs = f.metadata.find("optimizer");   // older files do not say
        whole && ours != nullptr && theirs != f.metadata.end() && theirs->second != ours)
        throw mismatch_error("the optimizer's memory is another's, of the same extents", path,
                             to_text({"that of ", io::printable(theirs->second)}),
                             to_text({"that of ", ours, ": to load the weights alone, write load(..., ",
                                     "saved::weights)"}));
    if (!phases.empty() && whole) {
        std::memcpy(phases.data(), f.at(phase_steps_name).data.data(), phases.size() * sizeof phases[0]);
        for (const std::int64_t n : phases)
            if (n < 0)
                throw format_error("number of steps", to_text({path, ", tensor ", phase_steps_name}), to_text({n}),
                                   "0 or more");
    }
    if (tables) tables->check(f, whole);
    std::vector<packed_values> ready;
    ready.reserve(variables.size());
    for (const saved_variable& s : variables) {
        if (!taken(s)) continue;
        std::vector<float> x(static_cast<std::size_t>(s.v->s.size()));
        std::memcpy(x.data(), f.at(s.name).data.data(),
                    x.size() * sizeof(float));   // the file's bytes may lie anywhere
        ready.push_back(t.packed(*s.v, x.data(), s.slot));
    }
    if (apart && !t.facts.remote_tables) take_table_files(*apart, variables, t, ready);
    further();
    if (apart && t.facts.remote_tables)
        t.session().tables()->put_tables(table_files::folder_of(path), apart->name, apart->paths(), whole);
    t.put(ready, whole);
    if (tables) tables->put(f, whole, whole ? steps : t.steps(), t.session());
    if (!phases.empty() && whole) t.set_phase_steps({phases.data(), phases.size()});
    if (whole) t.set_steps(steps);
}

SINTER_SELDOM_BODY void read_checkpoint(std::vector<safetensors::expected_tensor> expected,
                                        const safetensors::contents& f, trainer_state& t, saved what) {
    read_checkpoint(std::move(expected), f, t, what, [] {});
}

SINTER_SELDOM_BODY safetensors::file open_trainers_file(const trainer_facts& facts, const std::string& path) {
    return facts.tables->open(facts, path);
}
SINTER_SELDOM_BODY void with_opened_file(session_base& s, const trainer_facts& facts, const std::string& path,
                                         saved what, base::function_ref<std::optional<safetensors::file>()> open,
                                         with_contents f) {
    facts.tables->with_opened(s, facts, path, what, open, f);
}
SINTER_SELDOM_BODY void with_trainers_file(session_base& s, const trainer_facts& facts, const std::string& path,
                                           saved what, with_contents f) {
    if (!has_hashed_tables(facts)) return with_file_of_chief(s, path, f);
    with_opened_file(s, facts, path, what, [&] { return std::optional(open_trainers_file(facts, path)); }, f);
}

SINTER_SELDOM_BODY void save(const trainer_state& t, const std::string& path, saved what, not_finite allow) {
    write_checkpoint({}, t, path, what, allow);
}
SINTER_SELDOM_BODY std::vector<std::byte> save_to_memory(const trainer_state& t, saved what, not_finite allow) {
    if (allow == not_finite::refused) need_finite_weights(t, "save_to_memory");
    std::vector<std::byte> bytes;
    const auto write = [&](std::vector<safetensors::entry>&& all, const safetensors::metadata_map& metadata) {
        bytes = safetensors::to_bytes(std::move(all), metadata);
    };
    write_checkpoint({}, t, what, write, {}, allow);
    return bytes;
}
SINTER_SELDOM_BODY void load(trainer_state& t, const std::string& path, saved what) {
    with_trainers_file(t.session(), t.facts, path, what,
                       [&](const safetensors::contents& file) { read_checkpoint({}, file, t, what); });
}
SINTER_SELDOM_BODY void load(trainer_state& t, span<const std::byte> bytes, saved what) {
    read_checkpoint({}, safetensors::parse(bytes, "memory"), t, what);
}

} // namespace sinter::training_parts
#endif
