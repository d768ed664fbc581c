// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/train/checkpoint/hashed_tables.hpp>
#include <sinter/train/checkpoint/optimizer_memory.hpp>
#include <sinter/train/checkpoint/shared_file.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/not_finite.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <sinter/train/trainer.hpp>
#include <array>

/// Saving and loading a trainer: weights and states by their paths, in their plain forms; the
/// optimizer's memory under `optimizer/0/...`, and the number of steps done under `step`, so that a
/// run that is killed and resumed ends where an undisturbed one does.
namespace sinter::inline SINTER_TARGET {

enum class saved { whole, weights };   ///< all that resuming needs, or only what prediction needs

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

/// Whether no variable of the trainer's has a name that files keep for themselves: `step`, or one
/// under `optimizer/`, `run/` or `hooks/`.
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
    static_assert(names_are_free<Trainer>(),
                  "files keep the name `step` and all names under `optimizer/`, `run/` and `hooks/` for "
                  "themselves: call that parameter, state or layer something else");
    std::vector<saved_variable> all;
    auto add = [&](const variable_info& v, int slot) {
        if (is_hashed_table(v)) return;   // hashed_tables.hpp
        const std::string path = Trainer::path(v);
        all.push_back({slot < 0 ? path : slot_name(path, slot), &v, slot});
    };
    for (int i = 0; i < Trainer::parameters(); ++i) add(Trainer::parameter(i), -1);
    for (int i = 0; i < Trainer::states(); ++i) add(Trainer::state(i), -1);
    if (what == saved::whole)
        for (int s = 0; s < Trainer::slots(); ++s)
            for (int i = 0; i < Trainer::parameters(); ++i)
                if (s < Trainer::slots_of(Trainer::parameter(i))) add(Trainer::parameter(i), s);
    return all;
}

/// Whether the training program draws random numbers: under another seed a resumed run would then
/// go on otherwise.
template <class Trainer>
constexpr bool draws_numbers = graph_value<typename Trainer::training::request>::c.streams > 0;

/// See optimizer_memory.hpp; nullptr where the trainer's optimizer keeps nothing.
template <class Trainer>
constexpr const char* memory_of_trainer() {
    if constexpr (requires(Trainer& t) { t.optimizer(); })
        if (Trainer::slots() > 0)
            return memory_of<std::remove_cvref_t<decltype(std::declval<Trainer&>().optimizer())>>::name;
    return nullptr;
}

/// Steps that each loss has done, where losses alternate and count by themselves; otherwise of no
/// size.
template <class Trainer>
auto phase_steps_of([[maybe_unused]] const Trainer& t) {
    if constexpr (requires { t.phase_steps(); }) return t.phase_steps();
    else return std::array<std::int64_t, 0>{};
}
template <class Trainer>
using phase_steps_type = decltype(phase_steps_of(std::declval<const Trainer&>()));
template <class Trainer>
constexpr bool phases_alternate = std::tuple_size_v<phase_steps_type<Trainer>> > 0;
/// The tensor of these in a file.
inline constexpr const char* phase_steps_name = "optimizer/steps";

/// error, on every member, where an exchange with averages broke off on any of them.
template <class Trainer>
SINTER_COLD void need_whole_weights_of_all([[maybe_unused]] const Trainer& t, [[maybe_unused]] const char* where) {
    if constexpr (requires {
                      requires Trainer::keeps_averages;
                      t.weights_are_mixed();
                  }) {
        bool any = t.weights_are_mixed();
        if constexpr (!trains_alone<Trainer>) {
            auto& session = const_cast<Trainer&>(t).session();   // to speak with other members changes nothing of it
            if (!is_alone(session))
                by_the_same_members(session, [&] { any = of_any(session, t.weights_are_mixed()); });
        }
        if (any) Trainer::refuse_mixed(where);
    }
}
/// By the chief: servers write the tables that they keep beside the file `path`, and `to` says what
/// they have written. All members call it. False: this is no job with such tables, or the chief does
/// not see what they write.
template <class Trainer>
SINTER_COLD bool save_table_files([[maybe_unused]] const Trainer& t, [[maybe_unused]] const std::string& path,
                                  [[maybe_unused]] table_files& to) {
    if constexpr (Trainer::strategy_type::traits.remote_tables) {
        auto& session = const_cast<Trainer&>(t).session();   // to speak with other members changes nothing of it
        if (!session.tables()->keeps_tables()) return false;
        bool seen = true;
        by_the_chief(session, "save the servers' tables beside", path, [&] {
            const auto take = [&](const std::string& name, const std::string& file, std::uint64_t bytes,
                                  std::uint64_t checksum) {
                to.name = name;
                to.parts.push_back({file, bytes, checksum});
            };
            seen = session.tables()->save_tables(table_files::folder_of(path), take);
        });
        if (is_alone(session) ? !seen : of_any(session, !seen)) return false;
        for (int i = 0; i < Trainer::parameters(); ++i)
            if (Trainer::parameter(i).remote) to.tables.push_back(Trainer::path(Trainer::parameter(i)));
        return true;
    } else {
        return false;
    }
}
/// Tables whose rows are known and that servers keep come to the chief a few rows at a time, and wait on
/// the disk. All members call it. False: there are no such servers.
template <class Trainer>
SINTER_COLD bool stream_tables([[maybe_unused]] const Trainer& t,
                               [[maybe_unused]] const std::vector<saved_variable>& variables,
                               [[maybe_unused]] const std::string& path,
                               [[maybe_unused]] std::vector<scratch_tensor>& to) {
    if constexpr (Trainer::strategy_type::traits.remote_tables) {
        auto& session = const_cast<Trainer&>(t).session();   // to speak with other members changes nothing of it
        if (!session.tables()->keeps_tables()) return false;
        const std::size_t name = path.rfind('/');
        by_the_chief(session, "read tables to save", path, [&] {
            for (const saved_variable& s : variables) {
                if (!s.v->remote) continue;
                scratch_tensor& tensor = to.emplace_back(name == path.npos ? std::string() : path.substr(0, name));
                session.tables()->each_block(*s.v, s.slot,
                                             [&](span<const float> rows) { tensor.append(as_bytes(rows)); });
            }
        });
        return true;
    } else {
        return false;
    }
}
/// What save() hands to `write(entries, metadata)`: the trainer's, and what else `entries` has.
/// `path`: of the file that comes of it, if one does. `beside`: tables that servers keep are not in it,
/// if the servers can write them into files beside it (table_files.hpp).
template <class Trainer, class Write>
SINTER_COLD auto write_checkpoint(std::vector<safetensors::entry> entries, const Trainer& t, saved what, Write write,
                           [[maybe_unused]] const std::string& path = {},
                           [[maybe_unused]] not_finite allow = not_finite::refused, bool beside = false) {
    need_whole_weights_of_all(t, path.empty() ? "save_to_memory" : to_text({"save, ", path}).c_str());
    const auto variables = saved_variables<Trainer>(what);
    table_files apart;
    beside = beside && save_table_files(t, path, apart);
    std::vector<scratch_tensor> streamed;   // tables that servers keep, on the chief, for a file
    const bool streams = !beside && !path.empty() && stream_tables(t, variables, path, streamed);
    std::size_t next = 0;
    std::vector<std::vector<float>> values(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const saved_variable& s = variables[i];
        if (what == saved::weights && s.v->of_examples) continue;   // where sequences have come to is no weight
        if ((beside || streams) && s.v->remote) {
            if (next < streamed.size())
                entries.push_back({s.name, safetensors::dtype::f32, extents_of(s.v->s), nullptr, &streamed[next++]});
            continue;
        }
        values[i] = s.slot < 0 ? t.plain(*s.v) : t.plain_slot(*s.v, s.slot);
        entries.push_back({s.name, safetensors::dtype::f32, extents_of(s.v->s), values[i].data()});
    }
    [[maybe_unused]] hashed_tables_to_save tables;
    if constexpr (has_hashed_tables<Trainer>()) if (!beside) {
        auto& session = const_cast<Trainer&>(t).session();   // to speak with other members changes nothing of it
        const std::size_t name = path.rfind('/');
        by_the_chief(session, "read tables to save", path, [&] {
            tables.take(t, what == saved::whole, name == path.npos ? "" : path.substr(0, name),
                        allow == not_finite::refused);
        });
        tables.add_to(entries);
    }
    const std::int64_t steps = t.steps();
    if (what == saved::whole) entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
    const auto phases = phase_steps_of(t);
    if (!phases.empty() && what == saved::whole)
        entries.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}, phases.data()});
    safetensors::metadata_map metadata{{"format", "sinter"}};
    if (what == saved::whole) metadata.emplace("seed", to_text({t.options().seed}));
    if (beside) apart.add_to(metadata);
    constexpr const char* memory = memory_of_trainer<Trainer>();
    if (what == saved::whole && memory != nullptr) metadata.emplace("optimizer", memory);
    return write(std::move(entries), metadata);
}
template <class Trainer>
void write_checkpoint(std::vector<safetensors::entry> entries, const Trainer& t, const std::string& path, saved what,
               not_finite allow = not_finite::refused) {
    if (leaves_files_to_others(t.session())) return;
    if (allow == not_finite::refused) need_finite_weights(t, to_text({"save, ", path}).c_str());
    write_checkpoint(std::move(entries), t, what, [&](auto&& all, const auto& metadata) {
        auto& session = const_cast<Trainer&>(t).session();   // to speak with other members changes nothing of it
        by_the_chief(session, "save", path, [&] { safetensors::write(path, std::move(all), metadata); });
    }, path, allow);
}

/// Throws mismatch_error unless `file` has just what is expected. It says how to load the weights
/// alone, where these fit, and otherwise what loads a part of them.
template <class Trainer>
SINTER_COLD void check_fit(const std::vector<safetensors::expected_tensor>& expected, const safetensors::contents& file,
                           bool whole) {
    const std::vector<std::string> lines = safetensors::differences(expected, file);
    if (lines.empty()) return;
    bool weights_fit = whole;
    if (whole)
        for (const saved_variable& s : saved_variables<Trainer>(saved::weights)) {
            const auto found = file.tensors.find(s.name);
            if (found == file.tensors.end() || found->second.type != safetensors::dtype::f32 ||
                found->second.shape != extents_of(s.v->s))
                weights_fit = s.v->of_examples && weights_fit;
        }
    if (weights_fit)
        for (const auto& [name, tensor] : file.tensors)
            if (!is_for_resuming(name)) {
                bool known = false;
                for (const saved_variable& s : saved_variables<Trainer>(saved::whole)) known = known || s.name == name;
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
template <class Trainer>
SINTER_COLD void take_table_files([[maybe_unused]] const table_files& from,
                                  [[maybe_unused]] const std::vector<saved_variable>& variables,
                                  [[maybe_unused]] const Trainer& t,
                                  [[maybe_unused]] std::vector<typename Trainer::packed_values>& to) {
    if constexpr (!Trainer::strategy_type::traits.remote_tables)
        for (const saved_variable& s : variables) {
            const std::string path = Trainer::path(*s.v);
            if (!from.has(path)) continue;
            std::vector<float> x = t.first_values(*s.v, s.slot);
            read_table_files(from, path, s.slot, s.v->s.last(), x);
            to.push_back(t.packed(*s.v, x.data(), s.slot));
        }
}
/// load() of what was read, which must also hold what is `expected`. All that can fail comes before
/// the first change; `further()` is the last of it. Not so rows of tables of 64-bit keys, which are
/// read, and go to who keeps them, when all else is in its place.
template <class Trainer, class Further>
SINTER_COLD void read_checkpoint(std::vector<safetensors::expected_tensor> expected, const safetensors::contents& f,
                           Trainer& t, saved what, Further further) {
    const std::string& path = f.source;
    const bool whole = what == saved::whole && f.tensors.contains("step");
    const auto variables = saved_variables<Trainer>(whole ? saved::whole : saved::weights);
    // Where sequences have come to is no weight: a file may have it, of whatever batch, and it is
    // left alone.
    const std::optional<table_files> apart = table_files::of(f);
    const auto taken = [&](const saved_variable& s) {
        return (whole || !s.v->of_examples) && !(apart && apart->has(Trainer::path(*s.v)));
    };
    for (const saved_variable& s : variables)
        if (taken(s)) expected.push_back({s.name, safetensors::dtype::f32, extents_of(s.v->s)});
    [[maybe_unused]] hashed_tables_to_load tables;
    if constexpr (has_hashed_tables<Trainer>()) tables.expect<Trainer>(f, whole, expected);
    if (whole) expected.push_back({"step", safetensors::dtype::i64, {}});
    phase_steps_type<Trainer> phases{};
    if (!phases.empty() && whole)
        expected.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}});
    safetensors::contents own{f.source, {}, f.tensors};
    for (auto i = own.tensors.begin(); i != own.tensors.end();)
        i = is_of_a_run(i->first) ? own.tensors.erase(i) : std::next(i);
    if (whole) {
        check_fit<Trainer>(expected, own, true);
    } else {
        for (const saved_variable& s : variables)
            if (!taken(s)) own.tensors.erase(s.name);
        if (what == saved::weights)
            for (auto i = own.tensors.begin(); i != own.tensors.end();)
                i = is_for_resuming(i->first) ? own.tensors.erase(i) : std::next(i);
        check_fit<Trainer>(expected, own, false);
    }
    std::int64_t steps = 0;
    if (whole) {
        std::memcpy(&steps, f.at("step").data.data(), sizeof steps);
        if (steps < 0)
            throw format_error("number of steps", to_text({path, ", tensor step"}), to_text({steps}), "0 or more");
    }
    const auto seed = f.metadata.find("seed");   // older files have none
    const std::string our_seed = to_text({t.options().seed});
    if (((whole && draws_numbers<Trainer>) || apart) && seed != f.metadata.end() && seed->second != our_seed)
        throw mismatch_error(
            apart ? "the saved run drew the rows of its tables from another seed: those that no step has named are "
                    "in no file"
                  : "the saved run drew its random numbers from another seed: it would go on otherwise",
            path,
            to_text({"seed ", io::printable(seed->second)}),
            to_text({"the trainer's ", our_seed,
                    apart ? ": make it with that .seed"
                          : ": make it with that .seed, or write load(..., saved::weights)"}));
    const char* const ours = memory_of_trainer<Trainer>();
    if (const auto theirs = f.metadata.find("optimizer");   // older files do not say
        whole && ours != nullptr && theirs != f.metadata.end() && theirs->second != ours)
        throw mismatch_error("the optimizer's memory is another's, of the same extents", path,
                             to_text({"that of ", io::printable(theirs->second)}),
                             to_text({"that of ", ours, ": to load the weights alone, write load(..., ",
                                     "saved::weights)"}));
    if constexpr (phases_alternate<Trainer>)
        if (whole) {
            std::memcpy(phases.data(), f.at(phase_steps_name).data.data(), sizeof phases);
            for (const std::int64_t n : phases)
                if (n < 0)
                    throw format_error("number of steps", to_text({path, ", tensor ", phase_steps_name}), to_text({n}),
                                       "0 or more");
        }
    if constexpr (has_hashed_tables<Trainer>()) tables.check(f, whole);
    std::vector<typename Trainer::packed_values> ready;
    ready.reserve(variables.size());
    for (const saved_variable& s : variables) {
        if (!taken(s)) continue;
        std::vector<float> x(static_cast<std::size_t>(s.v->s.size()));
        std::memcpy(x.data(), f.at(s.name).data.data(),
                    x.size() * sizeof(float));   // the file's bytes may lie anywhere
        ready.push_back(t.packed(*s.v, x.data(), s.slot));
    }
    if (apart) take_table_files(*apart, variables, t, ready);
    further();
    if constexpr (Trainer::strategy_type::traits.remote_tables)
        if (apart) t.session().tables()->put_tables(table_files::folder_of(path), apart->name, apart->paths(), whole);
    t.put(ready, whole);
    if constexpr (has_hashed_tables<Trainer>()) tables.put(f, whole, whole ? steps : t.steps(), t);
    if constexpr (phases_alternate<Trainer>)
        if (whole) t.set_phase_steps(phases);
    if (whole) t.set_steps(steps);
}
/// A file of a trainer that has tables of 64-bit keys, which are left there.
template <class Trainer>
SINTER_COLD safetensors::file open_trainers_file(const std::string& path) {
    safetensors::file f = safetensors::open_verified(
        path, [](std::string_view name) { return hashed_tables_to_load::has_rows<Trainer>(name); });
    need_table_files(f);
    return f;
}
/// f(contents) of the file that the chief opens so (shared_file.hpp), or does not find.
template <class Trainer, class Session, class Open, class F>
SINTER_COLD void with_opened_file(Session& s, const std::string& path, saved what, Open open, F f) {
    with_large_file_of_chief(
        s, path, open, [](std::string_view name) { return hashed_tables_to_load::has_rows<Trainer>(name); },
        [&](const safetensors::contents& file) {
            const bool whole = what == saved::whole && file.tensors.contains("step");
            hashed_tables_to_load::check_rows<Trainer>(file, whole);
        },
        f);
}
/// f(contents) of the chief's file, of which tables of 64-bit keys need not fit in memory.
template <class Trainer, class Session, class F>
SINTER_COLD void with_trainers_file(Session& s, const std::string& path, [[maybe_unused]] saved what, F f) {
    if constexpr (has_hashed_tables<Trainer>())
        with_opened_file<Trainer>(s, path, what,
                                  [&] { return std::optional(open_trainers_file<Trainer>(path)); }, f);
    else with_file_of_chief(s, path, f);
}
template <class Trainer>
void read_checkpoint(std::vector<safetensors::expected_tensor> expected, const safetensors::contents& f, Trainer& t,
               saved what) {
    read_checkpoint(std::move(expected), f, t, what, [] {});
}

} // namespace detail

/// Writes a safetensors file; the old one stays as it is until the new one is safely on disk.
/// Throws io_error; data_error where a weight or a state is infinite or NaN, and the old file
/// stays, unless these are asked for. A whole file also has the trainer's seed, among its metadata.
/// Where several processes train the model all of them call save(); the chief writes, and the
/// others wait until it has.
template <class Trainer>
void save(const Trainer& t, const std::string& path, saved what = saved::whole,
          not_finite allow = not_finite::refused) {
    detail::write_checkpoint({}, t, path, what, allow);
}
/// The same bytes in memory, for programs without files.
template <class Trainer>
std::vector<std::byte> save_to_memory(const Trainer& t, saved what = saved::whole,
                                      not_finite allow = not_finite::refused) {
    if (allow == not_finite::refused) detail::need_finite_weights(t, "save_to_memory");
    return detail::write_checkpoint(
        {}, t, what, [](auto&& all, const auto& metadata) { return safetensors::to_bytes(std::move(all), metadata); },
        {}, allow);
}

/// Reads what save() wrote (or weights of the same names, shapes and types from elsewhere). Throws
/// format_error, io_error, or mismatch_error that names every tensor that is missing, unexpected or
/// different; or whatever a failed allocation throws. The trainer is then as it was. A file with
/// weights only leaves the optimizer's memory, the step and where carried sequences have come to
/// alone; so does `saved::weights` with any file, which may be of another optimizer.
///
/// A whole file must be of the trainer's seed if the net or loss draws random numbers in training
/// (dropout, noise): the run would not go on as it would have. Otherwise, and in older files, which
/// have none, the seed does not matter. Its optimizer must keep what the trainer's does
/// (optimizer_memory.hpp), as far as the file says.
///
/// Where several processes train the model all of them call load(); the chief reads the file, and
/// the others have its bytes.
template <class Trainer>
void load(Trainer& t, const std::string& path, saved what = saved::whole) {
    detail::with_trainers_file<Trainer>(t.session(), path, what,
                                        [&](const auto& file) { detail::read_checkpoint({}, file, t, what); });
}
/// The same from the bytes of a file that lie in memory, at any address.
template <class Trainer>
void load(Trainer& t, span<const std::byte> bytes, saved what = saved::whole) {
    detail::read_checkpoint({}, safetensors::parse(bytes, "memory"), t, what);
}

} // namespace sinter
