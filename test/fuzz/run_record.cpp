// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: whatever stands in the small files beside checkpoints. Any run can take them over, and the one that
// had them then writes no more; training has ended at a step, or has not, or the file is refused.
#include "message.hpp"
#include <sinter/estimator/training_end.hpp>
#include <sinter/io/run_record.hpp>
#include <cstdlib>
#include <cstring>

namespace {
using namespace sinter;
void need(bool b) {
    if (!b) std::abort();
}
const std::string& folder() {
    static const std::string made = [] {
        char name[] = "/tmp/sinter-fuzz-XXXXXX";
        need(::mkdtemp(name) != nullptr);
        return std::string(name);
    }();
    static const int once = std::atexit([] {
        for (const char* name : {"/ended", "/run"}) ::unlink((folder() + name).c_str());
        ::rmdir(folder().c_str());
    });
    need(once == 0);
    return made;
}
void put(const std::string& path, const std::uint8_t* data, std::size_t size) {
    const io::descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    need(fd && ::write(fd.get(), data, size) == static_cast<ssize_t>(size));
}
bool may_write(run_record& r) {
    try {
        r.guarded([] {});
        return true;
    } catch (const io_error& e) {
        must_be_fit(e);
        return false;
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string run = folder() + "/run", ended = folder() + "/ended";
    put(run, data, size);
    run_record first(run), second(run);
    const std::int64_t times = first.take(7);
    need(times >= 1 && may_write(first) && !may_write(second));
    need(second.take(7) == times + 1 && may_write(second) && !may_write(first));
    second.ended();
    need(first.take(7) == 1);
    put(run, data, size);
    need(!may_write(first));

    put(ended, data, size);
    const training_parts::training_end end{folder()};
    training_parts::training_end::mark m;
    try {
        m = end.read();
    } catch (const format_error& e) {
        must_be_fit(e);
        return 0;
    }
    // What is no error is what write() leaves, or an earlier version's step and the end of the line.
    need(m.step >= 0 && size > 1 && data[size - 1] == '\n');
    if (m.max_steps < 0) {
        const std::string again = std::to_string(m.step) + "\n";
        need(again.size() == size && std::memcmp(again.data(), data, size) == 0);
    } else {
        need(m.run >= 0 && (end.step(m.max_steps) == m.step || run_record::order_in(run).run > m.run));
    }
    return 0;
}
