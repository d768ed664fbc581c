// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/control_link.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/net/join_failure.hpp>
#include <sinter/net/listener.hpp>
#include <sinter/net/pending_handshake.hpp>
#include <sinter/net/name_lookup.hpp>
#include <sinter/net/rate_limited_log.hpp>
#include <sinter/net/handshake_limits.hpp>
#include <sinter/net/tls.hpp>
#include <list>
#include <map>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The connections of one member to all others: it listens for those of higher rank, and dials
/// those of lower rank until they answer. For each pair there is a control connection, then one for
/// data; further ones, which have numbers, are made when they are asked for. Lives on the loop's thread.
class links {
public:
    struct calls {
        std::function<void(int, message::kind, span<const std::byte>)> received;
        std::function<void(int, const std::string& cause)> lost;   // a control connection, after establish()
        std::function<void(int, purpose)> joined;                  // a connection stands
        std::function<void(const cluster_error&)> failed;
        std::function<std::string()> closed;   // why nobody can join any more; empty: they can
        std::function<void(int, std::uint32_t number, data_link)> further = {};   // a further connection stands
        std::function<void(int, std::uint32_t number, const std::string& cause)> no_further = {};   // it cannot be made
    };

    links(event_loop& loop, const cluster& who, const greeting& own, std::vector<resolution> addresses,
          std::unique_ptr<listener> at, rate_limited_log::sink log, calls on)
        : loop_(loop), who_(who), own_(own), listener_(std::move(at)), log_(std::move(log), who.self().name()),
          on_(std::move(on)) {
        if (who.options.tls.any()) tls_ = std::make_unique<tls_context>(who.options.tls);
        slots_.reserve(static_cast<std::size_t>(who.size()));
        for (int r = 0; r < who.size(); ++r) {
            slots_.push_back(std::make_unique<slot>(loop));
            slots_.back()->at = who.member(r).address();
            slots_.back()->known = std::move(addresses[static_cast<std::size_t>(r)]).endpoints;
        }
    }

    SINTER_COLD void begin() {
        listener_->begin([this](io::descriptor s, const endpoint& from) { on_accept(std::move(s), from); },
                         [this](const std::string& fault) { log_.write(fault); });
        for (int r = 0; r < who_.rank(); ++r)
            if (slots_[index(r)]->at.known()) dial(r);
    }
    /// The others' addresses, from rank 0, where only its own was known.
    SINTER_COLD void learn(const std::vector<std::string>& by_rank) {
        for (int r = 1; r < std::min(who_.size(), static_cast<int>(by_rank.size())); ++r) {
            slot& s = *slots_[index(r)];
            if (s.at.known()) continue;
            s.at = parse_address(by_rank[index(r)], "the list of members from rank 0");
            if (r < who_.rank()) dial(r);
        }
    }

    bool complete() const { return all([](const slot& s) { return s.data.has_value(); }); }
    /// Whether all have a control connection.
    bool all_connected() const { return all([](const slot& s) { return s.control != nullptr; }); }
    /// Whether all have one, or a refusal.
    bool all_notified() const { return all([](const slot& s) { return s.control || s.notified; }); }
    /// Who is not linked, from the first on, and why as far as is known.
    SINTER_COLD std::vector<std::pair<int, std::string>> missing() const {
        std::vector<std::pair<int, std::string>> m;
        for (int r = 0; r < who_.size(); ++r) {
            const slot& s = *slots_[index(r)];
            if (r == who_.rank() || s.data) continue;
            std::string text = who_.member(r).name() + " at " + where(r);
            if (!s.trouble.empty()) text += " (" + s.trouble.text() + ")";
            m.emplace_back(r, std::move(text));
        }
        return m;
    }

    SINTER_COLD std::vector<int> absent() const {
        std::vector<int> a;
        for (int r = 0; r < who_.size(); ++r)
            if (r != who_.rank() && !slots_[index(r)]->data) a.push_back(r);
        return a;
    }
    /// What was met on the way to this one; empty: nothing yet.
    std::string trouble(int r) const { return slots_[index(r)]->trouble.text(); }

    /// From now on a lost connection is its peer's end.
    SINTER_COLD void establish() {
        established_ = true;
        for (auto& s : slots_) s->dialling.reset();
    }
    control_link* control(int rank) const { return slots_[index(rank)]->control.get(); }
    SINTER_COLD data_link take_data(int rank) {
        slot& s = *slots_[index(rank)];
        data_link d(std::move(s.data->connection), s.data->sending, s.data->receiving,
                    {rank, who_.member(rank).name(), where(rank)});
        return d;
    }
    /// Makes the further connection of this number to a member of lower rank, once: it may be asked for again.
    /// `begun` is called where this is the first time.
    template <class F>
    SINTER_COLD void dial_further(int r, std::uint32_t number, F begun) {
        auto& d = further_[{r, number}];
        if (d) return;
        d = std::make_unique<further_dial>(loop_);
        begun();
        try_further(r, number);
    }
    SINTER_COLD std::string where(int rank) const {
        const host_port& at = slots_[index(rank)]->at;
        return at.known() ? text_of(at) : "an address that is not known yet";
    }
    host_port address(int rank) const { return slots_[index(rank)]->at; }
    void stop_listening() { listener_.reset(); }
    std::size_t pending_connections() const { return pending_.size(); }

    handshake_limits limits;

private:
    struct made_connection {
        channel connection;
        direction_key sending, receiving;
    };
    struct slot {
        explicit slot(event_loop& loop) : retry(loop) {}
        host_port at;
        std::vector<endpoint> known;      // resolved
        std::size_t next = 0;             // of them, to be tried
        std::uint64_t incarnation = 0;
        std::unique_ptr<control_link> control;
        std::optional<made_connection> data;
        std::unique_ptr<pending_handshake> dialling;
        alarm retry;
        double first_dialled = 0;
        int doubts = 0;                   // refusals in a row that nobody has proved
        bool notified = false;                // a refusal went to it or came from it, and both know the key
        join_failure trouble;
    };
    struct further_dial {
        explicit further_dial(event_loop& loop) : retry(loop) {}
        std::unique_ptr<pending_handshake> dialling;
        alarm retry;
        int tries = 0;
    };
    static constexpr int most_tries = 40;   // of a further connection: some ten seconds

    event_loop& loop_;
    cluster who_;
    greeting own_;
    std::unique_ptr<listener> listener_;
    std::vector<std::unique_ptr<slot>> slots_;
    std::list<std::unique_ptr<pending_handshake>> pending_;
    rate_limited_log log_;
    calls on_;
    std::unique_ptr<tls_context> tls_;
    bool established_ = false;
    name_lookup names_;
    std::map<std::pair<int, std::uint32_t>, std::unique_ptr<further_dial>> further_;   // that this member dials

    SINTER_COLD channel through(io::descriptor socket, bool dials) {
        auto cipher = tls_ ? tls_->begin(socket.get(), dials) : nullptr;
        return channel(std::move(socket), std::move(cipher));
    }

    template <class Has>
    SINTER_COLD bool all(Has has) const {
        for (int r = 0; r < who_.size(); ++r)
            if (r != who_.rank() && !has(*slots_[index(r)])) return false;
        return true;
    }
    static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
    SINTER_COLD cluster_error about(int r, std::string cause) const {
        return {r, who_.member(r).name(), where(r), "joining the job", -1, std::move(cause)};
    }

    // ---- Dialling

    SINTER_COLD void dial(int r) {
        slot& s = *slots_[index(r)];
        if (s.first_dialled == 0) s.first_dialled = base::monotonic_seconds();
        if (s.known.empty()) {
            // Those who have joined already learn meanwhile from this thread that this member lives.
            std::optional<resolution> found = names_.find(s.at, 0, [] { return false; });
            if (!found) return retry_later(r, "the name of its host is still being looked up");
            if (!found->fault.empty()) return retry_later(r, std::move(found->fault));
            s.known = std::move(found->endpoints);
        }
        const endpoint& to = s.known[s.next++ % s.known.size()];
        io::descriptor socket = stream_socket(to.storage.ss_family);
        if (!socket) return retry_later(r, "this process: " + error_text(errno), true);
        const int fault = ::connect(socket.get(), to.address(), to.size) == 0 ? 0 : errno;
        if (fault != 0 && fault != EINPROGRESS && fault != EINTR)
            return retry_later(r, std::generic_category().message(fault));
        greeting g = own_;
        g.use = s.control ? purpose::data : purpose::control;
        s.dialling = std::make_unique<pending_handshake>(
            loop_, through(std::move(socket), true), handshake(true, g, who_.options.key), limits.handshake_within,
            nullptr, [this, r, use = g.use](pending_handshake& m) { on_dialled(r, use, m); });
        s.dialling->begin(fault != 0);
    }
    /// Often at first, since the others are about to start; then four times a second.
    SINTER_COLD void retry_later(int r, std::string cause, bool is_reason = false) {
        slot& s = *slots_[index(r)];
        s.trouble.note(std::move(cause), is_reason);
        const bool early = base::monotonic_seconds() - s.first_dialled < 3;
        s.retry.in(early ? 0.01 : 0.25, [this, r] { dial(r); });
    }
    SINTER_COLD void on_dialled(int r, purpose use, pending_handshake& m) {
        slot& s = *slots_[index(r)];
        const std::unique_ptr<pending_handshake> finished = std::move(s.dialling);
        if (established_) return;
        const handshake& hs = m.messages();
        s.notified = s.notified || (m.result() == pending_handshake::outcome::refused && hs.proved());
        if (hs.in_doubt() && s.doubts++ < handshake::most_doubts)
            return retry_later(r, m.reason(), m.has_peer_reason());
        if (hs.proved()) s.doubts = 0;
        const bool of_another_group = who_.options.regroups && hs.why() == handshake::refusal::other_job;
        if (m.result() == pending_handshake::outcome::refused && !of_another_group &&
            hs.why() != handshake::refusal::not_sinter && hs.why() != handshake::refusal::busy)
            return on_.failed(about(r, "this process, " + who_.self().name() + ", was refused: " + m.reason()));
        if (m.result() != pending_handshake::outcome::accepted) return retry_later(r, m.reason(), m.has_peer_reason());
        if (const std::string wrong = another(hs.peer(), r); !wrong.empty()) return on_.failed(about(r, wrong));
        if (use == purpose::data && hs.peer().incarnation != s.incarnation) {   // it was restarted in between
            s.control.reset();
            return retry_later(r, "it was started again");
        }
        if (use == purpose::data && !s.control) return;   // lost in between, and dialled again already
        install(r, use, m);
        if (s.control && !s.data) dial(r);
    }

    SINTER_COLD void try_further(int r, std::uint32_t number) {
        slot& s = *slots_[index(r)];
        further_dial& d = *further_.at({r, number});
        if (s.known.empty()) return further_failed(r, number, "its address is not known");
        const endpoint& to = s.known[s.next++ % s.known.size()];
        io::descriptor socket = stream_socket(to.storage.ss_family);
        if (!socket) return further_failed(r, number, "this process: " + error_text(errno));
        const int fault = ::connect(socket.get(), to.address(), to.size) == 0 ? 0 : errno;
        if (fault != 0 && fault != EINPROGRESS && fault != EINTR)
            return further_failed(r, number, std::generic_category().message(fault));
        greeting g = own_;
        g.use = purpose::further;
        g.index = static_cast<std::int32_t>(number);
        d.dialling = std::make_unique<pending_handshake>(
            loop_, through(std::move(socket), true), handshake(true, g, who_.options.key), limits.handshake_within,
            nullptr, [this, r, number](pending_handshake& m) {
                const std::unique_ptr<pending_handshake> finished = std::move(further_.at({r, number})->dialling);
                if (m.result() != pending_handshake::outcome::accepted) return further_failed(r, number, m.reason());
                further_stands(r, number, m);
            });
        d.dialling->begin(fault != 0);
    }
    SINTER_COLD void further_failed(int r, std::uint32_t number, const std::string& cause) {
        further_dial& d = *further_.at({r, number});
        if (!on_.closed().empty()) return;
        if (++d.tries == most_tries || !slots_[index(r)]->control) return on_.no_further(r, number, cause);
        d.retry.in(d.tries < 10 ? 0.02 : 0.3, [this, r, number] { try_further(r, number); });
    }
    SINTER_COLD void further_stands(int r, std::uint32_t number, pending_handshake& m) {
        const handshake& hs = m.messages();
        on_.further(r, number, data_link(m.take(), hs.sending(), hs.receiving(),
                                         {r, who_.member(r).name(), where(r)}));
    }

    // ---- Listening

    SINTER_COLD void on_accept(io::descriptor socket, const endpoint& from) {
        if (pending_.size() >= limits.most_pending) {
            log_.write("closed a connection that had sent nothing: too many wait");
            pending_.pop_front();
        }
        const auto at = pending_.emplace(pending_.end());
        *at = std::make_unique<pending_handshake>(
            loop_, through(std::move(socket), false), handshake(false, own_, who_.options.key), limits.handshake_within,
            [this](const greeting& g) { return objection(g); },
            [this, at, from](pending_handshake& m) {
                const std::unique_ptr<pending_handshake> finished = std::move(*at);
                pending_.erase(at);
                on_handshake_done(m, from);
            });
        (*at)->begin(false);
    }
    /// Why a process of this job that knows the key cannot be linked now.
    SINTER_COLD std::string objection(const greeting& g) {
        if (const std::string why = on_.closed(); !why.empty()) return why;
        if (std::string why = listener_->crowded(); !why.empty()) return why;
        if (g.use == purpose::service) return who_.self().name() + " trains, and is no server";
        if (g.rank == who_.rank()) return who_.self().name() + " is this process: the task was started twice";
        if (g.rank < who_.rank()) return "members of lower rank are dialled, and do not dial";
        if (const std::string wrong = another(g, g.rank); !wrong.empty()) return wrong;
        const slot& s = *slots_[index(g.rank)];
        if (g.use == purpose::control && s.control && s.incarnation != g.incarnation)
            return who_.member(g.rank).name() + " is in this job already: the task was started twice";
        if (g.use != purpose::control && (!s.control || s.incarnation != g.incarnation))
            return "there is no control connection of this process";
        return {};
    }
    SINTER_COLD std::string another(const greeting& g, int rank) const {
        const cluster_member& m = who_.member(rank);
        const bool task = g.use == purpose::further || g.index == m.index;
        if (g.rank == rank && g.role == static_cast<std::uint8_t>(m.role) && task) return {};
        return to_text({"members' rosters differ: rank ", rank, " is ", m.name(), " here, and there rank ", g.rank,
                       " is ", g.role > 3 ? "?" : text_of(static_cast<cluster_role>(g.role)), "/", g.index});
    }
    SINTER_COLD void on_handshake_done(pending_handshake& m, const endpoint& from) {
        const greeting& g = m.messages().peer();
        if (m.result() == pending_handshake::outcome::accepted) {
            if (!on_.closed().empty()) return;
            if (g.use == purpose::further) return further_stands(g.rank, static_cast<std::uint32_t>(g.index), m);
            install(g.rank, g.use, m);
            return;
        }
        std::string text = m.reason();
        const bool ours = m.messages().proved() && g.rank < who_.size() && g.rank != who_.rank();
        if (ours) slots_[index(g.rank)]->notified = true;
        if (ours && m.messages().why() == handshake::refusal::member && on_.closed().empty())
            return on_.failed(about(g.rank, text));
        if (m.result() == pending_handshake::outcome::refused) {
            text = to_text({"refused a connection from ", text_of(from.digits()), ": ", text});
            if (g.rank > who_.rank() && g.rank < who_.size()) slots_[index(g.rank)]->trouble.note(text, true);
        } else {
            text = to_text({"closed a connection from ", text_of(from.digits()), ": ", text});
        }
        // Members of an elastic job that look for each other find groups that are over, which is no fault.
        const bool expected = !who_.options.announced && m.messages().why() == handshake::refusal::other_job;
        log_.write(text, expected ? message_level::detailed : message_level::normal);
    }

    // ---- Both

    SINTER_COLD void install(int r, purpose use, pending_handshake& m) {
        slot& s = *slots_[index(r)];
        const handshake& hs = m.messages();
        s.trouble = {};
        if (use == purpose::data) {
            if (!s.control) return;   // lost in between
            s.data.emplace(made_connection{m.take(), hs.sending(), hs.receiving()});
        } else {
            s.incarnation = hs.peer().incarnation;
            s.data.reset();
            if (!s.at.known()) s.at = parse_address(hs.peer().address, "a member's greeting");
            s.control = std::make_unique<control_link>(
                loop_, m.take(), hs.sending(), hs.receiving(),
                [this, r](message::kind k, span<const std::byte> bytes) { on_.received(r, k, bytes); },
                [this, r](const std::string& cause) { lost(r, cause); });
            s.control->begin();
        }
        on_.joined(r, use);
    }
    SINTER_COLD void lost(int r, const std::string& cause) {
        if (established_) return on_.lost(r, cause);
        slot& s = *slots_[index(r)];   // it may come back
        s.control.reset();
        s.data.reset();
        s.dialling.reset();
        if (r < who_.rank()) retry_later(r, cause);
        else s.trouble.note(cause, false);
    }
};

} // namespace sinter::wire
