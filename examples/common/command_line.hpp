// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/printable.hpp>
#include <boost/program_options.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <type_traits>
#include <vector>

/// Options of a command line. Boost splits the line; what the values must be is said, and checked,
/// here, so that every complaint names the option, what it got and what it needs.
namespace example {

/// What is shown as a number's default and in complaints: 0.001 and not 1.000000e-03.
template <class T>
std::string number_text(T value) {
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Throws the io_error that writing `path` at the program's end would throw, before hours of
/// training are lost to it. An empty path, which stands for no file, is fine.
inline void check_writable(const std::string& path) {
    if (path.empty()) return;
    struct not_yet {};
    try {   // a file whose writing fails half-way leaves no trace
        sinter::io::atomic_write(path, [](sinter::io::output_file&) { throw not_yet{}; });
    } catch (const not_yet&) {
    }
}

class command_line {
public:
    explicit command_line(std::string purpose) : purpose_(std::move(purpose)), described_("Options") {
        described_.add_options()("help,h", "show this help");
    }

    /// --name ARGUMENT: any text. What `value` holds now is the default.
    command_line& add(const std::string& name, std::string& value, const char* argument, const std::string& help) {
        return declare(name, argument, help + (value.empty() ? "" : " (default " + value + ")"),
                       [&value](const std::string& text) { value = text; });
    }
    /// --name FILE: a file that the program writes at its end, or none. run() tries it before
    /// anything else.
    command_line& output(const std::string& name, std::string& file, const std::string& help) {
        outputs_.push_back(&file);
        return add(name, file, "FILE", help);
    }
    /// --name N: a number from `low` to `high`; whole if T is. `shown_default` replaces the value
    /// in the help.
    template <class T>
        requires std::is_arithmetic_v<T>
    command_line& add(const std::string& name, T& value, std::type_identity_t<T> low, std::type_identity_t<T> high,
                      const std::string& help, std::string shown_default = {}) {
        if (shown_default.empty()) shown_default = number_text(value);
        const auto read = [&value, low, high, name](const std::string& text) {
            T parsed{};
            const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), parsed);
            // Written so that NaN, which compares false, is refused too.
            if (fault != std::errc{} || end != text.data() + text.size() || !(parsed >= low && parsed <= high))
                throw sinter::option_error("value cannot be used", "--" + name, sinter::io::printable(text),
                                           std::string(std::is_integral_v<T> ? "a whole number" : "a number") +
                                           " from " + number_text(low) + " to " + number_text(high));
            value = parsed;
        };
        return declare(name, std::is_integral_v<T> ? "N" : "X", help + " (default " + shown_default + ")", read);
    }
    /// --name without a value.
    command_line& flag(const std::string& name, bool& value, const std::string& help) {
        described_.add_options()(name.c_str(), help.c_str());
        readers_[name] = [&value](const std::string&) { value = true; };
        return *this;
    }
    /// Arguments that are no options, as many as come.
    command_line& rest(std::vector<std::string>& values, const std::string& name) {
        rest_ = &values;
        rest_name_ = name;
        return *this;
    }

    /// Reads the arguments behind the program's name. True if help was asked for, and nothing else
    /// was read then. option_error for whatever cannot be understood; values may then have changed
    /// in part.
    bool parse(std::span<const char* const> arguments) {
        namespace po = boost::program_options;
        const std::vector<std::string> words(arguments.begin(), arguments.end());
        std::vector<po::option> given;
        try {
            // No guessing: --ep is not --epochs, or a later --epsilon would change what old scripts
            // mean.
            const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
            given = po::command_line_parser(words).options(described_).style(style).run().options;
        } catch (const po::unknown_option& e) {
            throw sinter::option_error("unknown option", sinter::io::printable(e.get_option_name()), {},
                                       "one of those that --help shows");
        } catch (const po::invalid_syntax& e) {
            // Not e.what(): Boost puts the argument's words into its text until no placeholder is
            // left, which never ends for a placeholder among those words.
            throw sinter::option_error(syntax_complaint(e.kind()), sinter::io::printable(e.get_option_name()), {},
                                       "what --help shows");
        }
        for (const po::option& o : given)
            if (o.string_key == "help") return true;
        std::map<std::string, int> times;
        for (const po::option& o : given) {
            if (o.position_key >= 0 || o.string_key.empty()) {
                const std::string word = o.value.empty() ? "" : o.value.front();
                if (!rest_)
                    throw sinter::option_error("unexpected argument", sinter::io::printable(word), {},
                                               "options only, as --help shows");
                rest_->push_back(word);
                continue;
            }
            if (++times[o.string_key] > 1)
                throw sinter::option_error("option given twice", "--" + o.string_key, {}, "once");
            readers_.at(o.string_key)(o.value.empty() ? "" : o.value.front());
        }
        return false;
    }
    /// io_error for the first output that could not be written.
    void check_outputs() const {
        for (const std::string* file : outputs_) check_writable(*file);
    }
    std::string help(const std::string& program) const {
        std::ostringstream out;
        out << purpose_ << "\n\nUsage: " << program << " [options]" << (rest_ ? " " + rest_name_ + "..." : "") << "\n\n"
            << described_;
        return out.str();
    }

private:
    static const char* syntax_complaint(boost::program_options::invalid_syntax::kind_t kind) {
        using syntax = boost::program_options::invalid_syntax;
        switch (kind) {
        case syntax::missing_parameter:
        case syntax::empty_adjacent_parameter: return "value missing";
        case syntax::extra_parameter: return "value given where none belongs";
        default: return "argument cannot be read";
        }
    }
    command_line& declare(const std::string& name, const char* argument, const std::string& help,
                          std::function<void(const std::string&)> read) {
        described_.add_options()(name.c_str(), boost::program_options::value<std::string>()->value_name(argument),
                                 help.c_str());
        readers_[name] = std::move(read);
        return *this;
    }

    std::string purpose_, rest_name_;
    boost::program_options::options_description described_;
    std::map<std::string, std::function<void(const std::string&)>> readers_;
    std::vector<std::string>* rest_ = nullptr;
    std::vector<const std::string*> outputs_;
};

/// io_error if something that was printed has not reached standard output: a full disk behind
/// `> file`, say.
inline void check_printed() {
    errno = 0;
    const bool failed_before = std::ferror(stdout) != 0;
    if (std::fflush(stdout) != 0 || failed_before)
        throw sinter::io_error("not all of what was printed could be written", "standard output",
                               errno != 0 ? std::generic_category().message(errno) : "an earlier write that failed");
}

/// An example's main function: reads the command line, tries the outputs, runs `body`, and turns
/// what goes wrong into one line on stderr and an exit code: 2 for the command line, 1 for
/// everything else, also for output that was lost.
template <class Body>
int run(int argc, char** argv, command_line& line, Body body) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);   // in order with what goes to stderr, also into a file
    const char* const program = argc > 0 ? argv[0] : "example";
    try {
        const std::vector<const char*> arguments(argv + (argc > 0), argv + argc);
        if (line.parse(arguments)) {
            std::fputs(line.help(program).c_str(), stdout);
            check_printed();
            return 0;
        }
        line.check_outputs();
        body();
        check_printed();
        return 0;
    } catch (const sinter::option_error& e) {
        std::fprintf(stderr, "%s: %s (--help shows the options)\n", program, e.what());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", program, e.what());
        return 1;
    }
}

} // namespace example
