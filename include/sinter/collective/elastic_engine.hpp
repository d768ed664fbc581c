// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/collective/elastic_job.hpp>
#include <sinter/net/elastic/all_addresses.hpp>
#include <sinter/net/elastic/assembly_service.hpp>
#include <sinter/net/wait_note.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// What an elastic_job is inside.
class elastic_job::engine {
public:
    engine(const cluster& who, const wire::identity& same, connect_function connect, int most)
        : service_(wire::with_all_addresses(who, same), most > 0 ? most : who.size(), same), same_(same),
          connect_(connect), most_(most > 0 ? most : who.size()) {}
    SINTER_COLD group begin() {
        bool waits = false;
        std::string fault, missing;
        const cluster& roster = service_.roster();
        const auto shown = [&](int s) {
            return roster.member(s).name() + " at " + text_of(roster.member(s).address());
        };
        wire::wait_note note(roster.self().name(), roster.options.join_within);
        service_.wait([&](wire::assembly& a, double now) {
            missing.clear();
            const std::vector<int> absent = a.missing();
            for (const int s : absent) missing += (missing.empty() ? ": " : ", ") + shown(s);
            if (note.due()) {
                std::vector<std::string> whom;
                for (const int s : absent) whom.push_back(shown(s));
                note.say(whom);
            }
            waits = a.state() == wire::assembly_state::waiting && !a.all_are_new(now);
            fault = a.fault();
            return waits || !fault.empty() || a.all_are_new(now);
        });
        if (!fault.empty()) throw service_.fault(slot(), fault + missing);
        if (waits) {
            report({own(), " waits until it can join the job, which runs already"});
            return {};
        }
        group g;
        for (int s = 0; s < most_; ++s) g.list.entries.push_back({s, 0, wire::progress_of(0, true)});
        g.list.epoch = 1;
        g.members = make_group(g.list, "begin", service_.roster().options.join_within);
        const std::uint64_t mine = service_.use([](wire::assembly& a, double, auto&&) { return a.self().incarnation; });
        const std::vector<std::uint64_t> incarnations = all_gather_value(*g.members, mine, "beginning the job");
        for (std::size_t r = 0; r < incarnations.size(); ++r) g.list.entries[r].incarnation = incarnations[r];
        service_.use([&](wire::assembly& a, double, auto&&) { a.begin(g.list); });
        list_ = g.list;
        std::vector<std::string> all;
        for (int s = 0; s < most_; ++s) all.push_back(shown(s));
        wire::report_all_joined(roster.self().name(), all);
        return g;
    }
    SINTER_COLD group regroup(std::int64_t done, bool healed, bool admits, int suspect) {
        const bool known = suspect >= 0 && suspect < static_cast<int>(list_.entries.size());
        const int suspected = known ? list_.entries[static_cast<std::size_t>(suspect)].slot : -1;
        service_.use([&](wire::assembly& a, double now, auto&& send) {
            if (a.list().epoch > list_.epoch) return;
            a.regroup(done, healed, admits, suspected, now, in_vain_ > 1 ? suspected : -1);
            a.tick(now, send);
        });
        return next();
    }
    group wait_for_place() { return next(); }
    SINTER_COLD void end() {
        service_.use([](wire::assembly& a, double, auto&& send) { a.end(), a.send_end(send); });
    }
    bool somebody_waits() const { return service_.somebody_waits(); }
    double patience() const { return std::max(2 * service_.roster().options.dead_after, 2.); }
    SINTER_COLD void may_join(bool may) {
        service_.use([&](wire::assembly& a, double, auto&&) { a.may_join(may); });
    }
    SINTER_COLD wire::member_entry to_be_healed() {
        return service_.use([](wire::assembly& a, double now, auto&&) { return a.waiting(now, false); });
    }
    SINTER_COLD bool is_called() {
        return service_.use([&](wire::assembly& a, double, auto&&) {
            return a.list().epoch > list_.epoch || !a.fault().empty();
        });
    }
    SINTER_COLD wire::member_entry self() {
        return service_.use([](wire::assembly& a, double, auto&&) { return a.self(); });
    }
    std::function<std::unique_ptr<communicator>()> healing(const wire::member_entry& joins, bool gives,
                                                           double within) const {
        const cluster& all = service_.roster();
        const std::string job = named(to_text({all.options.job, "/heals/", joins.slot, "/", joins.incarnation}));
        const cluster two = cluster::with_master(gives ? 1 : 0, 2, all.member(joins.slot).address(),
                                                 options_of(job, within));
        return [two, connect = connect_, same = same_] { return connect(two, same); };
    }
    std::int64_t epoch() const { return list_.epoch; }
    int most() const { return most_; }
    const wire::member_list& list() const { return list_; }
    std::string own() const { return service_.roster().self().name(); }
    SINTER_COLD void report(std::initializer_list<text_piece> line, message_level level = message_level::normal) const {
        if (base::says(level)) base::say(level, to_text(line), own());
    }
    int slot() const { return service_.roster().rank(); }
    cluster_error fault(std::string cause) const { return service_.fault(slot(), std::move(cause)); }
private:
    wire::assembly_service service_;
    wire::identity same_;
    connect_function connect_;
    int most_;
    wire::member_list list_;   // of the group that was made last, or tried
    int in_vain_ = 0;          // groups that could not be made since then

    SINTER_COLD group next() {
        group g;
        std::string fault;
        std::uint64_t run = 0;
        service_.wait([&](wire::assembly& a, double) {
            g.list = a.list();
            fault = a.fault();
            run = a.run();
            return g.list.epoch > list_.epoch || !fault.empty();
        });
        if (!fault.empty()) throw excluded_member(service_.fault(slot(), fault));
        report_change(list_, g.list);
        list_ = g.list;
        ++in_vain_;
        g.members = make_group(g.list, std::to_string(run), patience());
        in_vain_ = 0;
        return g;
    }
    std::string name(const wire::member_entry& s) const { return service_.roster().member(s.slot).name(); }
    /// Who went, who came, who is the chief, and who is there, in one line; none where nothing is different.
    SINTER_COLD void report_change(const wire::member_list& before, const wire::member_list& now) const {
        if (now.entries.empty() || !base::says(message_level::normal)) return;
        const auto missing_in = [&](const wire::member_list& all, const wire::member_list& of) {
            std::vector<std::string> names;
            for (const wire::member_entry& s : of.entries)
                if (!all.find(s.slot, s.incarnation)) names.push_back(name(s));
            return names;
        };
        const bool joins = before.entries.empty();   // this process
        const auto gone = missing_in(now, before), come = missing_in(before, now);
        if (gone.empty() && come.empty()) return;
        std::string line;
        if (!gone.empty()) line = to_text({wire::few_of(gone), " died or cannot be reached; "});
        if (!joins && !come.empty()) line += to_text({wire::few_of(come), come.size() == 1 ? " joins; " : " join; "});
        if (joins || !now.entries[0].same(before.entries[0]))
            line += name(now.entries[0]) + " is the chief from now on; ";
        std::vector<std::string> all;
        for (const wire::member_entry& s : now.entries) all.push_back(name(s));
        report({line, "in the job: ", wire::few_of(all)});
    }
    /// Short, and another one for another text.
    SINTER_COLD static std::string named(const std::string& text) {
        const wire::digest id = wire::sha256({reinterpret_cast<const std::byte*>(text.data()), text.size()});
        std::string name;
        for (std::size_t i = 0; i < 12; ++i) {
            constexpr const char* digits = "0123456789abcdef";
            name += digits[std::to_integer<int>(id[i]) >> 4], name += digits[std::to_integer<int>(id[i]) & 15];
        }
        return name;
    }
    /// Those of a group within this job, whose members stay the same.
    SINTER_COLD cluster_options options_of(std::string job, double within) const {
        cluster_options o = service_.roster().options;
        o.job = std::move(job);
        o.join_within = within;
        o.elastic = false;
        o.spares = 0;
        o.announced = false;
        return o;
    }
    /// A group of its own for each list: members of another epoch are of another job.
    SINTER_COLD std::unique_ptr<communicator> make_group(const wire::member_list& l, const std::string& run,
                                                         double within) {
        const cluster& all = service_.roster();
        std::vector<cluster_member> members;
        for (const wire::member_entry& s : l.entries) members.push_back(all.member(s.slot));
        const std::string name = named(all.options.job + "/" + run + "/" + std::to_string(l.epoch));
        cluster_options o = options_of(name + "/epoch " + std::to_string(l.epoch), within);
        o.regroups = true;
        cluster members_only(std::move(members), all.self().role, all.self().index, std::move(o), all.how());
        return connect_(std::move(members_only), same_);
    }
};

SINTER_COLD SINTER_APART elastic_job::elastic_job(const cluster& who, const wire::identity& same,
                                                  connect_function connect, int most)
    : engine_(std::make_unique<engine>(who, same, connect, most)) {}
SINTER_APART elastic_job::~elastic_job() = default;
SINTER_APART elastic_job::group elastic_job::begin() { return engine_->begin(); }
SINTER_COLD SINTER_APART elastic_job::group elastic_job::regroup(std::int64_t done, bool healed, bool admits,
                                                                 int suspect) {
    return engine_->regroup(done, healed, admits, suspect);
}
SINTER_APART elastic_job::group elastic_job::wait_for_place() { return engine_->wait_for_place(); }
SINTER_APART void elastic_job::end() { engine_->end(); }
SINTER_APART bool elastic_job::somebody_waits() const { return engine_->somebody_waits(); }
SINTER_APART double elastic_job::patience() const { return engine_->patience(); }
SINTER_APART void elastic_job::may_join(bool may) { engine_->may_join(may); }
SINTER_APART wire::member_entry elastic_job::to_be_healed() { return engine_->to_be_healed(); }
SINTER_APART bool elastic_job::is_called() { return engine_->is_called(); }
SINTER_APART wire::member_entry elastic_job::self() { return engine_->self(); }
SINTER_COLD SINTER_APART std::function<std::unique_ptr<communicator>()>
elastic_job::healing(const wire::member_entry& joins, bool gives, double within) const {
    return engine_->healing(joins, gives, within);
}
SINTER_APART std::int64_t elastic_job::epoch() const { return engine_->epoch(); }
SINTER_APART int elastic_job::most() const { return engine_->most(); }
SINTER_APART const wire::member_list& elastic_job::list() const { return engine_->list(); }
SINTER_APART std::string elastic_job::own() const { return engine_->own(); }
SINTER_COLD SINTER_APART void elastic_job::report(std::initializer_list<text_piece> line, message_level level) const {
    engine_->report(line, level);
}
SINTER_APART int elastic_job::slot() const { return engine_->slot(); }
SINTER_APART cluster_error elastic_job::fault(std::string cause) const { return engine_->fault(std::move(cause)); }

}   // namespace sinter::inline SINTER_ORDINARY::collective
