// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/checkpoint/run_archive.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/hooks/hook_calls.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <sinter/train/optimizers/detail/learning_rates.hpp>

/// The checkpoint of a run: what save() writes of its trainer (train/checkpoint/checkpoint.hpp),
/// and with it where the data are, what the loop has summed of the epoch so far (`run/...`) and the
/// state of hooks (`hooks/NAME/...`; of several of one name the second is NAME_2). A run that goes
/// on from it ends bit for bit as one that was not disturbed. load() takes such a file as well, and
/// leaves `run/` and `hooks/` alone.
namespace sinter::inline SINTER_TARGET {

namespace detail {

/// All that a run has besides its trainer.
template <class Run>
SINTER_COLD void list_run(Run& run, hook_state& s, data::position& at) {
    s.begin("run");
    s("pass", at.epoch)("index", at.index);
    run.state(s);
    if (run.model.session().per_worker()) s("places", run.places);
    std::vector<std::string_view> names;
    for (const hook_calls& h : run.hooks) {
        if (!h.state) continue;
        int same = 1;
        for (const std::string_view n : names) same += n == h.name;
        names.push_back(h.name);
        s.begin(same == 1 ? joined({"hooks/", h.name}) : joined({"hooks/", h.name, "_", same}));
        h.state(h.hook, s);
    }
}

/// The same, of a run as it is now.
template <class Run>
SINTER_COLD void list_present(Run& run, hook_state& s) {
    auto& session = run.model.session();
    data::position at = run.data.position();
    if (run.pass_over) at.index = -1 - at.index;   // the data are at the next pass already
    if (session.per_worker()) by_the_same_members(session, [&] { run.places.gather(session, at); });
    list_run(run, s, at);
}

} // namespace detail

/// Throws what save() throws, and io_error where `owner` is no longer this run. All members call
/// it; the chief writes.
template <class Run>
SINTER_COLD void save_run(Run& run, const std::string& file, run_record* owner = nullptr) {
    auto& session = run.model.session();
    detail::need_finite_weights(run.model, joined({"save, ", file}).c_str());
    hook_state s(hook_state::mode::write);
    detail::list_present(run, s);
    detail::save_with(s.entries(), run.model, saved::whole, [&](auto&& all, safetensors::metadata_map metadata) {
        detail::by_the_chief(session, "save", file, [&] {
            // The others have this file behind them, and the values are later ones.
            if (session.makes_up()) return;
            if (!owner) {
                safetensors::add_checksums(metadata, all);
                return safetensors::write(file, std::move(all), metadata);
            }
            // The chief may be another one than at the beginning.
            if (!owner->taken(detail::chief_since(session))) owner->take(run.step, detail::chief_since(session));
            metadata.insert_or_assign(detail::write_order::key, owner->next_file().text());
            safetensors::add_checksums(metadata, all);
            safetensors::write(file, std::move(all), metadata, [&](auto rename) { owner->guarded(rename); });
            if constexpr (std::remove_cvref_t<decltype(run.model)>::strategy_type::traits.remote_tables) {
                const auto apart = detail::table_files::of({file, metadata, {}});
                detail::table_files::remove(file, apart ? apart->name : std::string());
            }
        });
    }, file, not_finite::refused, true);
}

namespace detail {

/// What load_run() does; `load_model(further)` loads the model, and calls further() once nothing
/// can fail any more.
template <class Run, class LoadModel>
SINTER_COLD void load_run_with(Run& run, const safetensors::contents& f, LoadModel load_model) {
    const std::string& file = f.source;
    safetensors::need_checksum(f);
    data::position at;
    hook_state check(hook_state::mode::check, &f);
    list_run(run, check, at);
    std::vector<std::string> lines = check.differences();
    bool has_run = false;
    for (const auto& [name, tensor] : f.tensors) {
        if (!is_of_a_run(name)) continue;
        has_run = true;
        if (std::find(check.names().begin(), check.names().end(), name) == check.names().end())
            lines.push_back(joined({io::printable(name), ": unexpected, the run has no such hook or variable"}));
    }
    if (!lines.empty()) {
        std::string list = joined({"the file is not of a run with these hooks, ", lines.size(),
                                   lines.size() == 1 ? " difference:" : " differences:"});
        for (const std::string& line : lines) (list += "\n  ") += line;
        throw mismatch_error(
            list +
                (has_run ? "\nA run goes on with the hooks that it was saved with, in their order. To go on otherwise, "
                           "load the model by load(), which leaves hooks alone"
                         : "\nIt has a model and no run, as save() writes it: load() reads it, and a run goes on from "
                           "what save_checkpoints has saved"),
            file);
    }
    hook_state read(hook_state::mode::read, &f);
    load_model([&] {
        list_run(run, read, at);
        auto& session = run.model.session();
        if (session.per_worker()) at = run.places.of(session.member(), at);
        run.pass_over = at.index < 0;
        run.data.seek({at.epoch, run.pass_over ? -1 - at.index : at.index});
    });
    run.resumed = true;
}

} // namespace detail

/// Throws what load() throws, and format_error where bytes have changed; mismatch_error as well
/// where the file is not of a run, or of one with other hooks. Then nothing has changed.
template <class Run>
SINTER_COLD void load_run(Run& run, const safetensors::contents& f) {
    detail::load_run_with(run, f,
                          [&](auto further) { detail::load_with({}, f, run.model, saved::whole, further); });
}
/// All members call it; the chief reads.
template <class Run>
SINTER_COLD void load_run(Run& run, const std::string& file) {
    using trainer = std::remove_cvref_t<decltype(run.model)>;
    detail::with_trainers_file<trainer>(run.model.session(), file, saved::whole,
                                        [&](const auto& f) { load_run(run, f); });
    run.model.session().checkpoint_saved(file);
}

namespace detail {

/// All that a run has but what the session knows of the model: parameters, slots and states, which
/// a process that joins the job has already. All members call it; each has all of it. `terms`: what both ends must
/// share, a description's text.
template <class Run>
SINTER_COLD std::vector<std::byte> give_run(Run& run, const std::string& terms) {
    auto& model = run.model;
    hook_state s(hook_state::mode::write);
    list_present(run, s);
    auto entries = s.entries();
    const std::int64_t steps = model.steps();
    entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
    const auto phases = phase_steps_of(model);
    if (!phases.empty())
        entries.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}, phases.data()});
    const auto rates = rates_of(model.optimizer());   // hooks may have changed them
    if (!rates.empty())
        entries.push_back({"rates", safetensors::dtype::f32, {std::ssize(rates)}, rates.data()});
    safetensors::metadata_map metadata{{"format", "sinter"}};
    metadata.emplace("terms", terms);
    safetensors::add_checksums(metadata, entries);
    return safetensors::to_bytes(std::move(entries), metadata);
}
/// The other end of it.
template <class Run>
SINTER_COLD void take_run(Run& run, const std::vector<std::byte>& bytes, const std::string& ours) {
    auto& model = run.model;
    const auto f = safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), "a member of the job");
    if (const auto theirs = f.metadata.find("terms"); theirs == f.metadata.end() || theirs->second != ours)
        throw mismatch_error("members do not train alike", "train, joining the job",
                             base::one_line(description::differences(
                                 theirs == f.metadata.end() ? std::string() : theirs->second, "the job", ours,
                                 "this process")),
                             same_or_per_worker);
    load_run_with(run, f, [&](auto further) {
        const auto number = [&](const char* name, void* to, std::size_t n) {
            const auto& own = f.at(name).data;
            if (own.size() != n)
                throw format_error("steps or rates", joined({f.source, ", tensor ", name}),
                                   joined({own.size(), " bytes"}), joined({n}));
            std::memcpy(to, own.data(), n);
        };
        using trainer = std::remove_cvref_t<decltype(model)>;
        std::int64_t steps = 0;
        phase_steps_type<trainer> phases{};
        auto rates = rates_of(model.optimizer());
        number("step", &steps, sizeof steps);
        if (!rates.empty()) number("rates", rates.data(), rates.size() * sizeof(float));
        if constexpr (phases_alternate<trainer>) number(phase_steps_name, phases.data(), sizeof phases);
        further();
        if constexpr (phases_alternate<trainer>) model.set_phase_steps(phases);
        model.set_steps(steps);
        set_rates(model.optimizer(), rates);
    });
}

} // namespace detail

/// See run_archive.
template <class Run>
class archive_of final : public run_archive {
public:
    explicit archive_of(Run& run) : run_(run) {}
    void save(const std::string& file, run_record* owner) override { save_run(run_, file, owner); }
    void load(const std::string& file) override { load_run(run_, file); }
    std::vector<std::byte> hand_over([[maybe_unused]] const std::string& terms) override {
        if constexpr (joins) return detail::give_run(run_, terms);
        else return {};
    }
    void take_over([[maybe_unused]] const std::vector<std::byte>& bytes,
                   [[maybe_unused]] const std::string& terms) override {
        if constexpr (joins) detail::take_run(run_, bytes, terms);
    }

private:
    static constexpr bool joins = detail::members_change<std::remove_cvref_t<decltype(std::declval<Run&>().model)>>;
    Run& run_;
};

} // namespace sinter
