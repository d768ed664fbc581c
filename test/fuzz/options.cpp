// SPDX-License-Identifier: BSL-1.0
// needs: program_options
//
// libFuzzer target: any command line is read, asks for help, or is refused with option_error; what
// was read is in range.
#include "message.hpp"
#include <common/options.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Arguments are what lies between zero bytes or line ends.
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < size; ++i) {
        if (data[i] == 0 || data[i] == '\n') words.emplace_back();
        else words.back() += static_cast<char>(data[i]);
    }
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());

    example::options options;
    float rate = 0.5f;
    bool flag = false;
    std::vector<std::string> files;
    example::command_line line("Fuzzed.");
    options.declare(line);
    line.add("rate", rate, 0, 1, "a rate").flag("quiet", flag, "a flag").rest(files, "FILE");
    try {
        if (line.parse(arguments)) return 0;
        const bool in_range = options.epochs >= 1 && options.batch >= 1 && options.batch <= options.largest_batch &&
                              options.threads >= 0 && options.threads <= 1024 && rate >= 0 && rate <= 1;
        if (!in_range || files.size() > arguments.size()) std::abort();
    } catch (const sinter::option_error& e) {
        must_be_fit(e);
    }
    return 0;
}
