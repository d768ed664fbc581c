// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/nccl_engine.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Messages whose bytes may be a GPU's, by way of the host. NCCL's own messages are not taken: it matches those of two
/// members by their order alone, and each waits for the operations that were queued before it.
class device_messages final : public messages {
public:
    device_messages(std::shared_ptr<messages> by_host, int device) : by_host_(std::move(by_host)), device_(device) {}

    message send(const message_name& n, span<const std::byte> x) override {
        if (!on_device(x.data())) return by_host_->send(n, x);
        std::vector<std::byte> copy(x.size());
        need(::cudaSetDevice(device_), "the device");
        need(::cudaMemcpy(copy.data(), x.data(), x.size(), cudaMemcpyDeviceToHost), "a copy to the host");
        const span<const std::byte> there(copy);
        return keep(by_host_->send(n, there), {std::move(copy), nullptr});
    }
    message receive(const message_name& n, span<std::byte> into) override {
        if (!on_device(into.data())) return by_host_->receive(n, into);
        std::vector<std::byte> copy(into.size());
        const span<std::byte> there(copy);
        return keep(by_host_->receive(n, there), {std::move(copy), into.data()});
    }
    void wait(message m, double within) override {
        by_host_->wait(m, within);
        staged s;
        {
            const std::lock_guard hold(mutex_);
            const auto at = staged_.find(m);
            if (at == staged_.end()) return;
            s = std::move(at->second);
            staged_.erase(at);
        }
        if (!s.to) return;
        need(::cudaSetDevice(device_), "the device");
        need(::cudaMemcpy(s.to, s.bytes.data(), s.bytes.size(), cudaMemcpyHostToDevice), "a copy from the host");
    }

private:
    struct staged {
        std::vector<std::byte> bytes;
        void* to = nullptr;   // null: they are sent
    };
    std::map<message, staged> staged_;
    std::mutex mutex_;
    std::shared_ptr<messages> by_host_;   // gone before the bytes
    int device_;

    message keep(message m, staged s) {
        const std::lock_guard hold(mutex_);
        staged_.emplace(m, std::move(s));
        return m;
    }
    static void need(cudaError_t e, const char* what) {
        if (e != cudaSuccess)
            throw device_error("CUDA refuses what a message needs", what, ::cudaGetErrorString(e));
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
