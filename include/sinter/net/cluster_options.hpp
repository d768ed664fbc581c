// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY {

/// Files in PEM format for TLS between the members; all three, or none.
struct tls_files {
    std::string certificate;   ///< this member's certificate, with its chain
    std::string key;           ///< its private key
    std::string authority;     ///< who must have signed the others' certificates
    bool any() const { return !certificate.empty() || !key.empty() || !authority.empty(); }
};

/// How the members of a job find, trust and watch each other. Times are in seconds; those that are
/// not set follow from `dead_after`.
struct cluster_options {
    std::string job{};            ///< members of other jobs are refused
    double dead_after = 5;        ///< a member from which nothing came for so long is dead
    double heartbeat = 0;         ///< how often members say that they live; 0: dead_after / 5
    double join_within = 60;      ///< all must be there so soon after the first
    double progress_within = 0;   ///< a member that lives but does not get on is stuck; 0: 60 * dead_after
    std::string key{};            ///< shared secret of the handshake and of each frame's MAC; without: checksums only
    bool insecure = false;        ///< without a key, other addresses than loopback are accepted too
    tls_files tls{};
    std::string folder{};         ///< of the checkpoints, where train_spec names none; TF_CONFIG's model_dir
    bool elastic = false;         ///< survivors go on without the dead, others may join: elastic(strategy) sets it
    int spares = 0;               ///< of an elastic job: so many tasks wait until a member has died
    bool regroups = false;        ///< a group of an elastic job: who still answers for another one is dialled again
    bool announced = true;        ///< messages say who is waited for and who is there; false: a group within a job
    bool chief_is_worker0 = false;   ///< a roster may give chief and worker/0 one address: they are one member

    double heartbeat_every() const { return heartbeat > 0 ? heartbeat : dead_after / 5; }
    double stuck_after() const { return progress_within > 0 ? progress_within : 60 * dead_after; }

    /// Throws option_error where the settings contradict each other.
    SINTER_APART void check() const;
};

} // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/number_text.hpp>

namespace sinter::inline SINTER_ORDINARY {
SINTER_COLD SINTER_APART void cluster_options::check() const {
    const auto within = [](const char* name, double value, double low, double high) {
        if (value >= low && value <= high) return;
        throw option_error("out of range", std::string("cluster_options::") + name, base::number_text(value),
                           base::number_text(low) + " to " + base::number_text(high) + " seconds");
    };
    within("dead_after", dead_after, 0.05, 86400);
    within("join_within", join_within, 0.05, 7 * 86400.);
    if (heartbeat != 0) within("heartbeat (at most half of dead_after)", heartbeat, 0.005, dead_after / 2);
    if (progress_within != 0)
        within("progress_within (at least dead_after)", progress_within, dead_after, 7 * 86400.);
    if (tls.any() && (tls.certificate.empty() || tls.key.empty() || tls.authority.empty()))
        throw option_error("TLS needs three files", "cluster_options::tls", "one or two of them",
                           "certificate, key and authority");
}
} // namespace sinter::inline SINTER_ORDINARY
#endif
