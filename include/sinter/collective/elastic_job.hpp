// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/base/message.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/collective/validated_gather.hpp>
#include <sinter/net/cluster.hpp>
#include <sinter/net/elastic/member_list.hpp>
#include <sinter/net/identity.hpp>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

namespace sinter::inline SINTER_ORDINARY::collective {

/// This process cannot go on in its elastic job, whatever it tries: it was removed, or those that
/// are left may not decide.
class excluded_member : public cluster_error {
public:
    explicit excluded_member(const cluster_error& e) : cluster_error(e) {}
};

/// The members of an elastic job, as one process sees them: from one group of processes to the
/// next.
class elastic_job {
public:
    using connect_function = std::unique_ptr<communicator> (*)(const cluster&, const wire::identity&);
    struct group {
        std::unique_ptr<communicator> members;   ///< null: this process waits until it is needed
        wire::member_list list;                  ///< by rank
    };

    /// `most`: members at once; 0: all tasks that train.
    SINTER_APART elastic_job(const cluster& who, const wire::identity& same, connect_function connect, int most);
    SINTER_APART ~elastic_job();
    elastic_job(const elastic_job&) = delete;
    elastic_job& operator=(const elastic_job&) = delete;

    /// Meets the others, where the job begins; finds out that it runs already, where it does.
    SINTER_APART group begin();
    /// The members from now on, once all of the present ones that live have come here. `done`,
    /// `healed`: wire::progress_of. `admits`: a process that waits may join. `suspect`: a rank that
    /// is probably dead, or -1. Throws excluded_member, or what making the group throws: then again.
    SINTER_APART group regroup(std::int64_t done, bool healed, bool admits, int suspect);
    /// As begin(), of a process that waits: once it is a member.
    SINTER_APART group wait_for_place();

    /// This process takes no part any more: the others need not wait for it.
    SINTER_APART void end();
    SINTER_APART bool somebody_waits() const;

    // ---- a process that waits is given the model's state by a member, while all train on
    /// Seconds that members wait for each other to connect.
    SINTER_APART double patience() const;
    /// Of a process that waits: whether it may be taken in already.
    SINTER_APART void may_join(bool may);
    /// Who waits for the model's state; slot -1: nobody.
    SINTER_APART wire::member_entry to_be_healed();
    /// Of a process that waits: whether it need not wait any more, for it is a member, or never
    /// will be.
    SINTER_APART bool is_called();
    SINTER_APART wire::member_entry self();
    /// Connects the process that waits, which is rank 0, to the one that heals it; either may call
    /// it, on any thread, at any time.
    SINTER_APART std::function<std::unique_ptr<communicator>()> healing(const wire::member_entry& joins, bool gives,
                                                                        double within) const;
    SINTER_APART std::int64_t epoch() const;
    SINTER_APART int most() const;   ///< members at once
    /// The members that were agreed on last, also where they could not connect.
    SINTER_APART const wire::member_list& list() const;
    /// This process, "worker/1".
    SINTER_APART std::string own() const;
    /// To the operator.
    SINTER_APART void report(std::initializer_list<text_piece> line,
                             message_level level = message_level::normal) const;
    SINTER_APART int slot() const;
    SINTER_APART cluster_error fault(std::string cause) const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective

#if SINTER_BODIES
#include <sinter/collective/elastic_engine.hpp>
#endif
