// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sinter/base/message.hpp>
#include <string>
#include <vector>

namespace sinter_test {

/// Takes all messages for as long as it lives, in place of standard error.
class messages {
public:
    messages() {
        before_ = sinter::on_message([this](sinter::message_level, std::string_view text, std::string_view place) {
            const std::lock_guard held(mutex_);
            lines_.push_back(std::string(place) + ": " + std::string(text));
            came_.notify_all();
        });
    }
    ~messages() { sinter::on_message(std::move(before_)); }
    messages(const messages&) = delete;
    messages& operator=(const messages&) = delete;

    /// Whether there was one with this in its place or text.
    bool have(const std::string& words) const { return count(words) > 0; }
    int count(const std::string& words) const {
        const std::lock_guard held(mutex_);
        return count_of(words);
    }
    /// Returns once there was.
    void wait_for(const std::string& words) {
        std::unique_lock held(mutex_);
        BOOST_TEST(came_.wait_for(held, std::chrono::seconds(100), [&] { return count_of(words) > 0; }), words);
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable came_;
    std::vector<std::string> lines_;
    sinter::message_function before_;

    int count_of(const std::string& words) const {
        int n = 0;
        for (const std::string& l : lines_) n += l.find(words) != std::string::npos;
        return n;
    }
};

} // namespace sinter_test
