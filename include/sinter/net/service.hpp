// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster.hpp>
#include <sinter/net/data_link.hpp>
#include <sinter/net/job_key.hpp>
#include <sinter/net/listener.hpp>
#include <sinter/net/pending_handshake.hpp>
#include <sinter/net/rate_limited_log.hpp>
#include <sinter/net/handshake_limits.hpp>
#include <sinter/net/tls.hpp>
#include <list>

/// Connections between processes that come and go: servers listen, and whoever is of the job may
/// dial them, at any time and again. Each connection begins with the handshake that all members
/// use, and is then a data_link.
namespace sinter::inline SINTER_ORDINARY::wire {

/// A member's number among all that train and all servers, in this order: `rank` of its greeting.
inline int number_in_job(const cluster& c, const cluster_member& m) {
    if (m.role == cluster_role::ps) return c.size() + m.index;
    for (int r = 0; r < c.size(); ++r)
        if (c.member(r) == m) return r;
    throw option_error("this task neither trains nor serves", "the connections of a service", m.name(),
                       "chief, worker or ps");
}

/// What a member of a job with servers says of itself.
inline greeting service_greeting(const cluster& c, const identity& same) {
    greeting g;
    g.use = purpose::service;
    g.role = static_cast<std::uint8_t>(c.self().role);
    g.index = c.self().index;
    g.rank = number_in_job(c, c.self());
    g.size = c.size() + static_cast<int>(c.servers().size());
    g.same = same;
    g.job = c.options.job;
    g.keyed = !c.options.key.empty();
    g.address = c.self().address().known() ? text_of(c.self().address()) : std::string();
    fill_random({reinterpret_cast<std::byte*>(&g.incarnation), sizeof g.incarnation});
    return g;
}

/// Throws option_error where a job without a key would be open to other machines.
SINTER_COLD inline void check_key(const cluster& c, const host_port& at, const std::vector<endpoint>& endpoints) {
    if (!c.options.key.empty() || c.options.insecure) return;
    for (const endpoint& e : endpoints)
        if (!e.is_loopback())
            throw option_error("a job without a key whose servers are not on this machine's loopback device",
                               "cluster_options::key", text_of(at),
                               "the same secret for all members (SINTER_KEY_FILE or SINTER_KEY), or insecure = true");
}

/// The side that listens, at this task's address and at no other. Strangers cost it no more than
/// `handshake_limits` allows, and never notice anything.
class service {
public:
    struct calls {   // on the service's thread; they should return soon
        /// Why a process of this job that knows the key cannot be served; empty: it is.
        std::function<std::string(const greeting&)> objection;
        std::function<void(const greeting&, data_link)> joined;
        std::function<void(const std::string&)> failed;   ///< the service's thread met an exception
    };

    /// Throws cluster_error where this task's address cannot be used.
    service(const cluster& who, const greeting& own, calls on, rate_limited_log::sink log = {},
            handshake_limits limits = {})
        : who_(who), own_(own), on_(std::move(on)), log_(std::move(log), who.self().name()), limits_(limits) {
        who_.options.check();
        check_key_length(who_.options.key, "cluster_options::key");
        if (who_.options.tls.any()) tls_ = std::make_unique<tls_context>(who_.options.tls);
        open();
        loop_.start([this](const char* what) { on_.failed(what); });
        loop_.post([this] {
            listener_->begin([this](io::descriptor s, const endpoint& from) { on_accept(std::move(s), from); },
                             [this](const std::string& fault) { log_.write(fault); });
        });
    }
    ~service() { close(); }
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    /// Nobody can come any more; connections that stand are left alone.
    void close() {
        loop_.stop();
        listener_.reset();
        pending_.clear();
    }
    const std::string& address() const { return own_.address; }

private:
    cluster who_;
    greeting own_;
    calls on_;
    rate_limited_log log_;
    handshake_limits limits_;
    std::unique_ptr<tls_context> tls_;
    event_loop loop_;
    std::unique_ptr<listener> listener_;
    std::list<std::unique_ptr<pending_handshake>> pending_;

    SINTER_COLD cluster_error fault(std::string cause) const {
        return {own_.rank, who_.self().name(), text_of(who_.self().address()), "joining the job", -1, std::move(cause)};
    }
    void open() {
        const host_port at = who_.self().address();
        if (!at.known()) throw fault("this server's address is not known");
        const resolution own = resolve(at);
        if (!own.fault.empty()) throw fault("the name of its host cannot be resolved: " + own.fault);
        check_key(who_, at, own.endpoints);
        int why = 0;
        for (const endpoint& e : own.endpoints) try {
                listener_ = std::make_unique<listener>(loop_, e);
                own_.address = text_of(at);
                return;
            } catch (const io_error&) {
                why = errno;
                if (why == EADDRINUSE) break;
            }
        if (why == EADDRINUSE)
            throw fault("the port is in use: another process listens there, or this task was started twice");
        throw fault("cannot listen there: " + std::generic_category().message(why));
    }

    void on_accept(io::descriptor socket, const endpoint& from) {
        if (pending_.size() >= limits_.most_pending) {
            log_.write("closed a connection that had sent nothing: too many wait");
            pending_.pop_front();
        }
        auto cipher = tls_ ? tls_->begin(socket.get(), false) : nullptr;
        const auto at = pending_.emplace(pending_.end());
        *at = std::make_unique<pending_handshake>(
            loop_, channel(std::move(socket), std::move(cipher)), handshake(false, own_, who_.options.key),
            limits_.handshake_within, [this](const greeting& g) { return objection(g); },
            [this, at, from](pending_handshake& m) {
                const std::unique_ptr<pending_handshake> finished = std::move(*at);
                pending_.erase(at);
                on_handshake_done(m, from);
            });
        (*at)->begin(false);
    }
    /// Whose number in the job this is: of those that train, and of servers, which come after
    /// them.
    const cluster_member* task(int number) const {
        if (number < who_.size()) return &who_.member(number);
        const auto server = static_cast<std::size_t>(number - who_.size());
        return server < who_.servers().size() ? &who_.servers()[server] : nullptr;
    }
    std::string objection(const greeting& g) const {
        if (g.use != purpose::service) return who_.self().name() + " is a server, and takes no part in training";
        const cluster_member* const m = task(g.rank);
        if (!m) return to_text({"only those that train use a server, and ", g.rank, " is none of them"});
        if (g.role != static_cast<std::uint8_t>(m->role) || g.index != m->index)
            return to_text({"members' rosters differ: rank ", g.rank, " is ", m->name(), " here"});
        if (std::string why = listener_->crowded(); !why.empty()) return why;
        return on_.objection(g);
    }
    void on_handshake_done(pending_handshake& m, const endpoint& from) {
        const handshake& hs = m.messages();
        const greeting& g = hs.peer();
        if (m.result() == pending_handshake::outcome::accepted)
            return on_.joined(g, data_link(m.take(), hs.sending(), hs.receiving(),
                                           {g.rank, task(g.rank)->name(), text_of(from.digits())}));
        const bool refused = m.result() == pending_handshake::outcome::refused;
        log_.write(to_text({refused ? "refused" : "closed", " a connection from ", text_of(from.digits()), ": ",
                            m.reason()}));
    }
};

} // namespace sinter::wire
