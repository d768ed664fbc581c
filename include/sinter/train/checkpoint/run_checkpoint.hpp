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
namespace sinter::inline SINTER_TARGET::detail {

/// See run_archive.
template <class Run, bool Joins>
class archive_of final : public run_archive {
    using trainer = std::remove_cvref_t<decltype(std::declval<Run&>().model)>;

public:
    explicit archive_of(Run& run) : run_(run), model_(run.model) {}

    SINTER_COLD void save(const std::string& file, run_record* owner) override {
        auto& session = model_.session();
        need_finite_weights(model_, to_text({"save, ", file}).c_str());
        hook_state s(hook_state::mode::write);
        list_present(s);
        write_checkpoint(s.entries(), model_, saved::whole, [&](auto&& all, safetensors::metadata_map metadata) {
            by_the_chief(session, "save", file, [&] {
                // The others have this file behind them, and the values are later ones.
                if (session.makes_up()) return;
                if (!owner) {
                    safetensors::add_checksums(metadata, all);
                    return safetensors::write(file, std::move(all), metadata);
                }
                // The chief may be another one than at the beginning.
                if (!owner->taken(chief_since(session))) owner->take(run_.step, chief_since(session));
                metadata.insert_or_assign(io::write_order::key, owner->next_file().text());
                safetensors::add_checksums(metadata, all);
                safetensors::write(file, std::move(all), metadata, [&](auto rename) { owner->guarded(rename); });
                if constexpr (trainer::strategy_type::traits.remote_tables) {
                    const auto apart = table_files::of({file, metadata, {}});
                    table_files::remove(file, apart ? apart->name : std::string());
                }
            });
        }, file, not_finite::refused, true);
    }
    SINTER_COLD void load(const std::string& file) override {
        with_trainers_file<trainer>(model_.session(), file, saved::whole, [&](const auto& f) { load(f); });
        model_.session().checkpoint_saved(file);
    }
    SINTER_COLD void load(const safetensors::contents& f) override {
        read(f, [&](auto further) { read_checkpoint({}, f, model_, saved::whole, further); });
    }
    SINTER_COLD std::vector<std::byte> hand_over([[maybe_unused]] const std::string& terms) override {
        if constexpr (Joins) return all_but_the_model(terms);
        else return {};
    }
    SINTER_COLD void take_over([[maybe_unused]] const std::vector<std::byte>& bytes,
                               [[maybe_unused]] const std::string& terms) override {
        if constexpr (Joins) take_all_but_the_model(bytes, terms);
    }

private:
    Run& run_;
    trainer& model_;

    /// All that a run has besides its trainer.
    SINTER_COLD void list_run(hook_state& s, data::position& at) {
        s.begin("run");
        s("pass", at.epoch)("index", at.index);
        run_.state(s);
        if (model_.session().per_worker()) s("places", run_.places);
        std::vector<std::string_view> names;
        for (const hook_calls& h : run_.hooks) {
            if (!h.state) continue;
            int same = 1;
            for (const std::string_view n : names) same += n == h.name;
            names.push_back(h.name);
            s.begin(same == 1 ? to_text({"hooks/", h.name}) : to_text({"hooks/", h.name, "_", same}));
            h.state(h.hook, s);
        }
    }
    /// The same, of the run as it is now.
    SINTER_COLD void list_present(hook_state& s) {
        auto& session = model_.session();
        data::position at = run_.data.position();
        if (run_.pass_over) at.index = -1 - at.index;   // the data are at the next pass already
        if (session.per_worker()) by_the_same_members(session, [&] { run_.places.gather(session, at); });
        list_run(s, at);
    }
    /// `load_model(further)` loads the model, and calls further() once nothing can fail any more.
    template <class LoadModel>
    SINTER_COLD void read(const safetensors::contents& f, LoadModel load_model) {
        const std::string& file = f.source;
        safetensors::need_checksum(f);
        data::position at;
        hook_state check(hook_state::mode::check, &f);
        list_run(check, at);
        std::vector<std::string> lines = check.differences();
        bool has_run = false;
        for (const auto& [name, tensor] : f.tensors) {
            if (!is_of_a_run(name)) continue;
            has_run = true;
            if (std::find(check.names().begin(), check.names().end(), name) == check.names().end())
                lines.push_back(to_text({io::printable(name), ": unexpected, the run has no such hook or variable"}));
        }
        if (!lines.empty()) {
            std::string list = to_text({"the file is not of a run with these hooks, ", lines.size(),
                                       lines.size() == 1 ? " difference:" : " differences:"});
            for (const std::string& line : lines) (list += "\n  ") += line;
            throw mismatch_error(
                list +
                    (has_run ? "\nA run goes on with the hooks that it was saved with, in their order. To go on "
                               "otherwise, load the model by load(), which leaves hooks alone"
                             : "\nIt has a model and no run, as save() writes it: load() reads it, and a run goes "
                               "on from what save_checkpoints has saved"),
                file);
        }
        hook_state read(hook_state::mode::read, &f);
        load_model([&] {
            list_run(read, at);
            auto& session = model_.session();
            if (session.per_worker()) at = run_.places.of(session.member(), at);
            run_.pass_over = at.index < 0;
            run_.data.seek({at.epoch, run_.pass_over ? -1 - at.index : at.index});
        });
        run_.resumed = true;
    }
    SINTER_COLD std::vector<std::byte> all_but_the_model(const std::string& terms) {
        hook_state s(hook_state::mode::write);
        list_present(s);
        auto entries = s.entries();
        const std::int64_t steps = model_.steps();
        entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
        const auto phases = phase_steps_of(model_);
        if (!phases.empty())
            entries.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}, phases.data()});
        const auto rates = rates_of(model_.optimizer());   // hooks may have changed them
        if (!rates.empty())
            entries.push_back({"rates", safetensors::dtype::f32, {std::ssize(rates)}, rates.data()});
        safetensors::metadata_map metadata{{"format", "sinter"}};
        metadata.emplace("terms", terms);
        safetensors::add_checksums(metadata, entries);
        return safetensors::to_bytes(std::move(entries), metadata);
    }
    SINTER_COLD void take_all_but_the_model(const std::vector<std::byte>& bytes, const std::string& terms) {
        const auto f = safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), "a member of the job");
        if (const auto theirs = f.metadata.find("terms"); theirs == f.metadata.end() || theirs->second != terms)
            throw mismatch_error("members do not train alike", "train, joining the job",
                                 base::one_line(description::differences(
                                     theirs == f.metadata.end() ? std::string() : theirs->second, "the job", terms,
                                     "this process")),
                                 same_or_per_worker);
        read(f, [&](auto further) {
            const auto number = [&](const char* name, void* to, std::size_t n) {
                const auto& own = f.at(name).data;
                if (own.size() != n)
                    throw format_error("steps or rates", to_text({f.source, ", tensor ", name}),
                                       to_text({own.size(), " bytes"}), to_text({n}));
                std::memcpy(to, own.data(), n);
            };
            std::int64_t steps = 0;
            phase_steps_type<trainer> phases{};
            auto rates = rates_of(model_.optimizer());
            number("step", &steps, sizeof steps);
            if (!rates.empty()) number("rates", rates.data(), rates.size() * sizeof(float));
            if constexpr (phases_alternate<trainer>) number(phase_steps_name, phases.data(), sizeof phases);
            further();
            if constexpr (phases_alternate<trainer>) model_.set_phase_steps(phases);
            model_.set_steps(steps);
            set_rates(model_.optimizer(), rates);
        });
    }
};

} // namespace sinter::detail
