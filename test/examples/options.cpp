// SPDX-License-Identifier: BSL-1.0
// needs: program_options
#define BOOST_TEST_MODULE options
#include <boost/test/unit_test.hpp>
#include "../../examples/common/options.hpp"
#include "io/temporary_folder.hpp"
#include <cstdlib>

struct parsed {
    example::options options{};
    float rate = 0.5f;
    bool quiet = false, helped = false;
    std::string text;
    explicit parsed(std::vector<const char*> arguments) {
        example::command_line line("Tests options.");
        options.declare(line);
        line.add("rate", rate, 0, 1, "share of something").flag("quiet", quiet, "say nothing");
        helped = line.parse(arguments);
        text = line.help("prog");
    }
};

static std::string complaint(std::vector<const char*> arguments) {
    try {
        parsed p(std::move(arguments));
    } catch (const sinter::option_error& e) {
        return e.what();
    }
    return "accepted";
}

BOOST_AUTO_TEST_CASE(values_arrive) {
    const parsed p({"--data", "a b", "--epochs=7", "--batch", "32", "--threads", "2", "--seed", "18446744073709551615",
                    "--save", "w.safetensors", "--report=r.json", "--rate", "0.25", "--quiet"});
    BOOST_TEST(p.options.data == "a b");
    BOOST_TEST(p.options.epochs == 7);
    BOOST_TEST(p.options.batch == 32);
    BOOST_TEST(p.options.threads == 2);
    BOOST_TEST(p.options.seed == 18446744073709551615u);
    BOOST_TEST(p.options.save == "w.safetensors");
    BOOST_TEST(p.options.report == "r.json");
    BOOST_TEST(p.rate == 0.25f);
    BOOST_TEST(p.quiet);
}

BOOST_AUTO_TEST_CASE(complaints_say_option_got_and_needed) {
    const std::string epochs = "--epochs: value cannot be used; got ", to = "; needed a whole number from 1 to 1000000";
    for (const char* bad : {"-3", "0", "1000001", "99999999999999999999", "abc", "5x", "1e3", "2.5", " 5", "0x10"})
        BOOST_TEST(complaint({"--epochs", bad}) == epochs + "'" + bad + "'" + to);
    BOOST_TEST(complaint({"--batch=0"}) ==
               "--batch: value cannot be used; got '0'; needed a whole number from 1 to 4096");
    BOOST_TEST(complaint({"--threads", "0"}) ==
               "--threads: value cannot be used; got '0'; needed a whole number from 1 to 1024");
    BOOST_TEST(complaint({"--seed", "-1"}) ==
               "--seed: value cannot be used; got '-1'; needed a whole number from 0 to 18446744073709551615");
    for (const char* bad : {"nan", "inf", "-0.1", "1.5", "x"})
        BOOST_TEST(complaint({"--rate", bad}) == std::string("--rate: value cannot be used; got '") + bad +
                   "'; needed a number from 0 to 1");
    BOOST_TEST(complaint({"--epoch", "3"}) == "'--epoch': unknown option; needed one of those that --help shows");
    BOOST_TEST(complaint({"-x"}) == "'-x': unknown option; needed one of those that --help shows");
    BOOST_TEST(complaint({"stray"}) == "'stray': unexpected argument; needed options only, as --help shows");
    BOOST_TEST(complaint({"--epochs", "3", "--epochs", "4"}) == "--epochs: option given twice; needed once");
    BOOST_TEST(complaint({"--save"}) == "'--save': value missing; needed what --help shows");
    BOOST_TEST(complaint({"--save="}) == "'--save': value missing; needed what --help shows");
    BOOST_TEST(complaint({"--quiet=yes"}) == "'--quiet': value given where none belongs; needed what --help shows");
    // Names of Boost's own placeholders, which its texts would be completed with for ever.
    for (const char* placeholder : {"%canonical_option%", "%value%", "%option%", "%prefix%"})
        for (const std::string before : {"-.", "--", "--quiet=", "-"})
            BOOST_TEST(complaint({(before + placeholder).c_str()}) != "accepted");
    BOOST_TEST(complaint({"--ep\x1b[2Jochs"}).find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_shows_every_option_and_its_default) {
    const parsed p({"--help", "--epochs", "7"});
    BOOST_TEST(p.helped);
    BOOST_TEST(p.options.epochs == 5);   // help alone is read
    for (const char* part :
         {"Tests options.", "Usage: prog [options]", "--data DIR", "SINTER_DATA", "--epochs N", "(default 5)",
          "--batch N", "--threads N", "all cores", "--seed N", "--save FILE", "--report FILE", "--rate X",
          "(default 0.5)", "--quiet"})
        BOOST_TEST(p.text.find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(the_data_folder_comes_from_the_environment) {
    ::setenv("SINTER_DATA", "/from/environment", 1);
    BOOST_TEST(parsed({}).options.data == "/from/environment");
    BOOST_TEST(parsed({"--data", "given"}).options.data == "given");
    ::unsetenv("SINTER_DATA");
    BOOST_TEST(parsed({}).options.data == "");
}

BOOST_AUTO_TEST_CASE(outputs_are_tried_before_anything_else) {
    const temporary_folder folder;
    write_bytes(folder / "old", "kept");
    const auto tried = [&](const std::string& file) {
        try {
            example::check_writable(file);
        } catch (const sinter::io_error& e) {
            return std::string(e.what()).find(file) != std::string::npos ? "refused, and named" : e.what();
        }
        return "fine";
    };
    BOOST_TEST(tried("") == "fine");
    BOOST_TEST(tried(folder / "new") == "fine");
    BOOST_TEST(tried(folder / "old") == "fine");
    BOOST_TEST(tried(folder / "") == "refused, and named");
    BOOST_TEST(tried(folder / "old/new") == "refused, and named");
    BOOST_TEST(tried("/dev/null") == "refused, and named");   // renaming over it would remove it
    BOOST_TEST(read_bytes(folder / "old") == "kept");
    BOOST_TEST(folder.entries() == 1u);   // nothing but old
    BOOST_TEST(tried(folder / "missing/new") == "fine");   // its folder is made
    BOOST_TEST(std::filesystem::is_empty(folder / "missing"));

    for (const char* option : {"--save", "--report"}) {
        example::options o;
        example::command_line line("Tests outputs.");
        o.declare(line);
        const std::string file = folder / "old/new";
        std::string words[] = {"prog", option, file};
        char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
        BOOST_TEST(example::run(3, argv, line, [] { BOOST_FAIL("not reached"); }) == 1);
    }
}

BOOST_AUTO_TEST_CASE(exit_codes) {
    const auto code = [](std::vector<std::string> words, auto body) {
        std::vector<char*> argv;
        for (std::string& w : words) argv.push_back(w.data());
        argv.push_back(nullptr);
        example::options o;
        example::command_line line("Tests exit codes.");
        o.declare(line);
        return example::run(static_cast<int>(words.size()), argv.data(), line, body);
    };
    bool ran = false;
    BOOST_TEST(code({"prog"}, [&] { ran = true; }) == 0);
    BOOST_TEST(ran);
    BOOST_TEST(code({"prog", "--help"}, [] { BOOST_FAIL("help only"); }) == 0);
    BOOST_TEST(code({"prog", "--batch", "zero"}, [] { BOOST_FAIL("not reached"); }) == 2);
    BOOST_TEST(code({"prog"}, [] { throw sinter::io_error("cannot open", "file"); }) == 1);
}
