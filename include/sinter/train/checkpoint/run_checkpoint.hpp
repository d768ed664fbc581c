// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/checkpoint/run_archive.hpp>
#include <sinter/train/checkpoint/trainer_files.hpp>

/// The checkpoint of a run: what save() writes of its trainer (train/checkpoint/checkpoint.hpp),
/// and with it where the data are, what the loop has summed of the epoch so far (`run/...`) and the
/// state of hooks (`hooks/NAME/...`; of several of one name the second is NAME_2). A run that goes
/// on from it ends bit for bit as one that was not disturbed. load() takes such a file as well, and
/// leaves `run/` and `hooks/` alone. Its functions: run_archive.hpp.

#if SINTER_BODIES
#include <sinter/base/description.hpp>
#include <sinter/io/run_record.hpp>
#include <sinter/io/safetensors/checksum.hpp>
#include <sinter/train/checkpoint/reserved_names.hpp>
#include <sinter/train/checkpoint/table_files.hpp>
#include <sinter/train/described_data.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <sinter/train/loop_run.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/not_finite.hpp>
#include <algorithm>
#include <cstring>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// See run_archive.
class archive final : public run_archive {
public:
    explicit archive(loop_run& run) : run_(run), model_(run.trained.state()), session_(run.session()) {}

    SINTER_COLD void save(const std::string& file, run_record* owner) override {
        need_finite_weights(model_, to_text({"save, ", file}).c_str());
        hook_state s(hook_state::mode::write);
        list_present(s);
        const auto write = [&](std::vector<safetensors::entry>&& all, safetensors::metadata_map& metadata) {
            by_the_chief(session_, "save", file, [&] {
                // The others have this file behind them, and the values are later ones.
                if (session_.makes_up()) return;
                if (!owner) {
                    safetensors::add_checksums(metadata, all);
                    return safetensors::write(file, std::move(all), metadata);
                }
                // The chief may be another one than at the beginning.
                if (!owner->taken(chief_since(session_))) owner->take(run_.step, chief_since(session_));
                metadata.insert_or_assign(io::write_order::key, owner->next_file().text());
                safetensors::add_checksums(metadata, all);
                safetensors::write(file, std::move(all), metadata, [&](auto rename) { owner->guarded(rename); });
                if (!model_.facts.remote_tables) return;
                const auto apart = table_files::of({file, metadata, {}});
                table_files::remove(file, apart ? apart->name : std::string());
            });
        };
        write_checkpoint(s.entries(), model_, saved::whole, write, file, not_finite::refused, true);
    }
    SINTER_COLD void load(const std::string& file) override {
        with_trainers_file(session_, model_.facts, file, saved::whole,
                           [&](const safetensors::contents& f) { load(f); });
        session_.checkpoint_saved(file);
    }
    SINTER_COLD void load(const safetensors::contents& f) override {
        read(f, [&](base::function_ref<void()> further) { read_checkpoint({}, f, model_, saved::whole, further); });
    }
    SINTER_COLD std::vector<std::byte> hand_over(const std::string& terms) override {
        hook_state s(hook_state::mode::write);
        list_present(s);
        auto entries = s.entries();
        const std::int64_t steps = model_.steps();
        entries.push_back({"step", safetensors::dtype::i64, {}, &steps});
        const std::vector<std::int64_t> phases = model_.phase_steps();
        if (!phases.empty())
            entries.push_back({phase_steps_name, safetensors::dtype::i64, {std::ssize(phases)}, phases.data()});
        const std::vector<float> rates = model_.rates();   // hooks may have changed them
        if (!rates.empty())
            entries.push_back({"rates", safetensors::dtype::f32, {std::ssize(rates)}, rates.data()});
        safetensors::metadata_map metadata{{"format", "sinter"}};
        metadata.emplace("terms", terms);
        safetensors::add_checksums(metadata, entries);
        return safetensors::to_bytes(std::move(entries), metadata);
    }
    SINTER_COLD void take_over(const std::vector<std::byte>& bytes, const std::string& terms) override {
        const auto f = safetensors::parse(span<const std::byte>(bytes.data(), bytes.size()), "a member of the job");
        if (const auto theirs = f.metadata.find("terms"); theirs == f.metadata.end() || theirs->second != terms)
            throw mismatch_error("members do not train alike", "train, joining the job",
                                 base::one_line(description::differences(
                                     theirs == f.metadata.end() ? std::string() : theirs->second, "the job", terms,
                                     "this process")),
                                 same_or_per_worker);
        read(f, [&](base::function_ref<void()> further) {
            const auto number = [&](const char* name, void* to, std::size_t n) {
                const auto& own = f.at(name).data;
                if (own.size() != n)
                    throw format_error("steps or rates", to_text({f.source, ", tensor ", name}),
                                       to_text({own.size(), " bytes"}), to_text({n}));
                std::memcpy(to, own.data(), n);
            };
            std::int64_t steps = 0;
            std::vector<std::int64_t> phases = model_.phase_steps();
            std::vector<float> rates = model_.rates();
            number("step", &steps, sizeof steps);
            if (!rates.empty()) number("rates", rates.data(), rates.size() * sizeof(float));
            if (!phases.empty()) number(phase_steps_name, phases.data(), phases.size() * sizeof phases[0]);
            further();
            if (!phases.empty()) model_.set_phase_steps({phases.data(), phases.size()});
            model_.set_steps(steps);
            model_.set_rates(rates);
        });
    }

private:
    loop_run& run_;
    trainer_state& model_;
    session_base& session_;

    static constexpr const char* data_name = "data";

    /// What the data are that it trains on: the text of a description.
    SINTER_COLD std::string described() const {
        description d;
        run_.data.describe(d.of("training data"));
        return d.lasting_text();
    }
    /// mismatch_error where a file's run was trained on other data, or on the same through other stages.
    SINTER_COLD void need_same_data(const safetensors::contents& f) const {
        const auto found = f.tensors.find(to_text({"run/", data_name}));
        if (session_.per_worker() || found == f.tensors.end()) return;
        const auto& bytes = found->second.data;
        const std::string saved(reinterpret_cast<const char*>(bytes.data()), bytes.size()), here = described();
        if (saved == here) return;
        throw mismatch_error("the run was trained on other data", f.source,
                             base::one_line(description::differences(saved, "the file", here, "this run")),
                             "the pipeline that the run was saved with. To go on with another one, load the model by "
                             "load(), which leaves data alone");
    }
    /// Where the data are. Behind the end of a pass that has not been measured yet the index is -1 less itself.
    SINTER_COLD static void list_place(hook_state& s, data::position& at) {
        s("pass", at.epoch)("index", at.index).where_any("cursors", at.cursors);
    }
    /// This member's place in a file that has been checked, and whether it is behind the end of such a pass.
    SINTER_COLD std::pair<data::position, bool> saved_place(const safetensors::contents& f) const {
        hook_state s(hook_state::mode::read, &f);
        s.begin("run");
        data::position at;
        list_place(s, at);
        if (session_.per_worker()) {
            data_places all;
            s("places", all);
            at = all.of(session_.member(), at);
        }
        const bool over = at.index < 0;
        if (over) at.index = -1 - at.index;
        return {std::move(at), over};
    }
    /// All that a run has besides its trainer.
    SINTER_COLD void list_run(hook_state& s, data::position& at) {
        s.begin("run");
        list_place(s, at);
        run_.state(s);
        if (!session_.per_worker()) {   // else each has its own
            std::string stages = described();
            s.optional(data_name, stages);
        }
        if (session_.per_worker()) s("places", run_.places);
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
        data::position at = run_.data.position();
        if (run_.pass_over) at.index = -1 - at.index;   // the data are at the next pass already
        if (session_.per_worker()) by_the_same_members(session_, [&] { run_.places.gather(session_, at); });
        list_run(s, at);
    }
    /// `load_model(further)` loads the model, and calls further() once nothing can fail any more.
    SINTER_COLD void read(const safetensors::contents& f,
                          base::function_ref<void(base::function_ref<void()>)> load_model) {
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
        need_same_data(f);
        std::pair<data::position, bool> place = saved_place(f);
        run_.data.need_place(place.first);
        hook_state read(hook_state::mode::read, &f);
        load_model([&] {
            list_run(read, at);
            run_.pass_over = place.second;
            run_.data.seek(std::move(place.first));
        });
        run_.resumed = true;
    }
};

SINTER_SELDOM_BODY std::unique_ptr<run_archive> archive_of(loop_run& run) { return std::make_unique<archive>(run); }

} // namespace sinter::training_parts
#endif
