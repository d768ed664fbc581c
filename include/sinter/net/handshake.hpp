// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/descriptors.hpp>
#include <sinter/net/greeting.hpp>
#include <sinter/net/seal.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::wire {

/// How a connection begins. The one that dialled sends its greeting; the other answers with its own;
/// the first proves that it knows the job's key, then the other does, with its verdict. A proof is
/// HMAC-SHA256 of both greetings, each with a nonce of this connection, and of who proves: nothing
/// recorded fits again, and nothing can be sent back to whom it came from. Whoever dials learns
/// nothing that depends on the key before it has proved that it knows it. Keys for the frames are
/// made of the same. No socket here: bytes go in and come out, and memory is this object's alone.
/// (Who reads the key later can check recorded frames, but nothing was secret in them: a MAC hides
/// nothing. Who wants that takes TLS.)
class handshake {
public:
    enum class state : std::uint8_t { going_on, to_decide, accepted, refused };
    /// Why the answer was no.
    enum class refusal : std::uint8_t {
        none,
        not_sinter,   // the other end uses another protocol
        protocol,     // another version of these messages
        other_job,    // it belongs to another job
        key,          // it does not know the job's key
        member,       // of this job: something differs that must not
        unwanted,     // all agrees, and who listens has a reason of its own: decide()
        busy,         // all agrees, and who listens has no descriptor left: it may have some later
    };
    static constexpr std::size_t most_bytes = greeting_bytes;   // of one message

    handshake(bool dials, const greeting& own, std::string_view key)
        : own_(own), key_(key), dials_(dials), step_(dials ? step::send_greeting : step::receive_greeting) {
        fill_random(own_.nonce);
        own_.keyed = !key.empty();
        own_block_ = encode(own_);
        if (dials) send(own_block_);
    }

    /// Bytes that only the two ends of the channel beneath share (TLS makes them): whoever sits
    /// between two channels cannot then hand on what is sent. To be set before anything is received.
    void bind(span<const std::byte> binding) { binding_.assign(binding.begin(), binding.end()); }

    state now() const { return state_; }
    refusal why() const { return why_; }
    /// Why, where refused.
    const std::string& reason() const { return reason_; }
    /// The other end, as it says; proved only once `to_decide` or `accepted` has been reached.
    const greeting& peer() const { return peer_; }
    bool proved() const { return proved_; }
    /// Whether the answer was no, and nothing proves that the other end sent it: a bit that was damaged on
    /// the way looks like another key, another job or another version. To dial again shows which it is.
    bool in_doubt() const { return state_ == state::refused && !proved_; }
    static constexpr int most_doubts = 2;   ///< in a row; with the next one it is believed

    /// What is to be sent now; sent() when it is gone.
    span<const std::byte> outgoing() const { return {out_.data(), out_size_}; }
    SINTER_COLD void sent() {
        out_size_ = 0;
        if (step_ == step::send_greeting) step_ = step::receive_greeting;
        else if (step_ == step::send_own) step_ = step::receive_proof;
        else if (step_ == step::send_proof) step_ = step::receive_verdict;
        else if (step_ == step::send_last) state_ = after_;
    }
    /// How many bytes receive() wants next; 0: something is to be sent or decided, or all is over.
    SINTER_COLD std::size_t wanted() const {
        if (state_ != state::going_on || out_size_ != 0) return 0;
        switch (step_) {
            case step::receive_greeting: return greeting_bytes;
            case step::receive_proof: return proof_bytes;
            case step::receive_verdict: return verdict_bytes;
            default: return 0;
        }
    }
    SINTER_COLD void receive(span<const std::byte> bytes) {
        if (bytes.size() != wanted() || bytes.empty()) throw error("more or fewer bytes than wanted()", "handshake");
        if (step_ == step::receive_greeting) receive_greeting(bytes);
        else if (step_ == step::receive_proof) receive_proof(bytes);
        else receive_verdict(bytes);
    }
    /// In `to_decide`: accepts the peer, or refuses it with a reason that is sent to it (cut to 343
    /// bytes). One that begins with `too_few_descriptors` is `busy`.
    SINTER_COLD void decide(std::string_view reason) {
        if (state_ != state::to_decide) throw error("nothing is to be decided", "handshake");
        state_ = state::going_on;
        send_verdict(reason.empty()                             ? refusal::none
                    : reason.starts_with(too_few_descriptors) ? refusal::busy
                                                              : refusal::unwanted,
                    reason, std::string(reason));
    }

    /// Once accepted: the keys of what this end sends, and of what it receives.
    direction_key sending() const { return derive(dials_); }
    direction_key receiving() const { return derive(!dials_); }

private:
    enum class step : std::uint8_t {
        send_greeting, receive_greeting, send_own, receive_proof, send_proof, receive_verdict, send_last
    };
    static constexpr std::size_t proof_bytes = 32, verdict_text = 344, verdict_bytes = 8 + verdict_text + 32;
    static constexpr const char* not_sinter = "what listens there does not use Sinter's protocol";
    static constexpr std::uint32_t verdict_magic = 0x56524E53;   // "SNRV"

    greeting own_, peer_;
    greeting_block own_block_{}, peer_block_{};
    std::string key_, reason_;
    std::array<std::byte, most_bytes> out_{};
    std::size_t out_size_ = 0;
    std::vector<std::byte> binding_;
    bool dials_, proved_ = false;
    step step_;
    state state_ = state::going_on, after_ = state::going_on;
    refusal why_ = refusal::none;

    SINTER_COLD void send(span<const std::byte> bytes) {
        std::memcpy(out_.data(), bytes.data(), bytes.size());
        out_size_ = bytes.size();
    }
    SINTER_COLD void refuse(refusal why, std::string reason) {
        why_ = why;
        reason_ = std::move(reason);
        state_ = state::refused;
    }
    /// Refused as soon as what is to be sent has been sent.
    SINTER_COLD void refuse_after_sending(refusal why, std::string reason) {
        refuse(why, std::move(reason));
        state_ = state::going_on;
        after_ = state::refused;
        step_ = step::send_last;
    }

    SINTER_COLD void receive_greeting(span<const std::byte> bytes) {
        std::memcpy(peer_block_.data(), bytes.data(), greeting_bytes);
        const greeting_fault f = decode(peer_block_, peer_);
        if (f == greeting_fault::not_sinter) return refuse(refusal::not_sinter, not_sinter);
        if (f == greeting_fault::malformed) return refuse(refusal::not_sinter, "a greeting that makes no sense");
        std::string differs;
        if (f == greeting_fault::protocol)
            differs = to_text({"protocol ", peer_.major, ".", peer_.minor, " of Sinter ", peer_.library,
                              " there, protocol ", own_.major, ".", own_.minor, " of Sinter ", own_.library, " here"});
        const bool other = f == greeting_fault::protocol || compare(own_, peer_, differs) == disagreement::other_job;
        const refusal why = f == greeting_fault::protocol ? refusal::protocol : refusal::other_job;
        if (dials_) {
            if (other) return refuse(why, std::move(differs));
            send(proof("dialer", {}));
            step_ = step::send_proof;
        } else {   // the answer shows the other end what differs
            send(own_block_);
            if (other) refuse_after_sending(why, std::move(differs));
            else step_ = step::send_own;
        }
    }
    SINTER_COLD void receive_proof(span<const std::byte> bytes) {
        if (!equal_in_constant_time(bytes, proof("dialer", {})))
            return send_verdict(refusal::key, "this is not the job's key", "it does not know the job's key");
        proved_ = true;
        std::string seen_there, seen_here;
        if (compare(peer_, own_, seen_there) != disagreement::none) {
            compare(own_, peer_, seen_here);
            return send_verdict(refusal::member, seen_there, std::move(seen_here));
        }
        state_ = state::to_decide;
    }
    SINTER_COLD void receive_verdict(span<const std::byte> bytes) {
        const auto signed_part = bytes.first(8 + verdict_text);
        const auto code = static_cast<refusal>(std::to_integer<unsigned>(bytes[4]));
        if (detail::get<std::uint32_t>(bytes.data()) != verdict_magic)
            return refuse(refusal::not_sinter, not_sinter);
        if (code == refusal::key) return refuse(refusal::key, "it says that this process does not know the job's key");
        if (!equal_in_constant_time(bytes.subspan(8 + verdict_text), proof("acceptor", signed_part)))
            return refuse(refusal::key, "it does not know the job's key");
        proved_ = true;
        std::string reason;
        if (compare(own_, peer_, reason) == disagreement::none)
            for (std::size_t i = 8; i < signed_part.size() && bytes[i] != std::byte{}; ++i)
                reason += static_cast<char>(bytes[i]);
        if (code == refusal::none && reason.empty()) state_ = state::accepted;
        else refuse(code == refusal::unwanted || code == refusal::busy ? code : refusal::member, std::move(reason));
    }
    /// `sent_reason` goes to the other end, `reason` stays here.
    SINTER_COLD void send_verdict(refusal code, std::string_view sent_reason, std::string reason) {
        std::array<std::byte, verdict_bytes> v{};
        detail::put(v.data(), verdict_magic);
        v[4] = static_cast<std::byte>(code);
        std::memcpy(v.data() + 8, sent_reason.data(), std::min(sent_reason.size(), verdict_text - 1));
        const auto signed_part = span<const std::byte>(v).first(8 + verdict_text);
        const digest d = code == refusal::key ? digest{} : proof("acceptor", signed_part);
        std::memcpy(v.data() + 8 + verdict_text, d.data(), d.size());
        if (code == refusal::none) {
            after_ = state::accepted;
            step_ = step::send_last;
        } else {
            refuse_after_sending(code, std::move(reason));
        }
        send(v);
    }

    SINTER_COLD digest proof(std::string_view who, span<const std::byte> verdict) const {
        return hmac_sha256(as_bytes(key_), {as_bytes(std::string_view("sinter handshake 1 ")), as_bytes(who),
                                            dials_ ? own_block_ : peer_block_, dials_ ? peer_block_ : own_block_,
                                            binding_, verdict});
    }
    /// HKDF's two steps (RFC 5869) with one block of output for each direction.
    SINTER_COLD direction_key derive(bool of_dialer) const {
        const digest secret = proof("keys", {});
        const std::string_view who = of_dialer ? "dialer sends\1" : "acceptor sends\1";
        const digest block = hmac_sha256(secret, {as_bytes(who)});
        direction_key k;
        k.secret = own_.keyed;
        std::memcpy(k.key.data(), block.data(), 16);
        std::memcpy(k.connection.data(), block.data() + 16, 4);
        k.seed = detail::get<std::uint64_t>(block.data() + 24);
        return k;
    }
};

} // namespace sinter::wire
