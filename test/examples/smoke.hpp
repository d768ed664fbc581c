// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "io/run_command.hpp"
#include "io/temporary_folder.hpp"

#include <boost/property_tree/json_parser.hpp>
#include <boost/test/unit_test.hpp>

/// The examples' programs, in the folder SINTER_EXAMPLES, and what their smoke tests wrote, in its folder smoke.
using boost::property_tree::ptree;

inline std::string folder_of_examples() {
    const char* const folder = std::getenv("SINTER_EXAMPLES");
    BOOST_REQUIRE_MESSAGE(folder, "SINTER_EXAMPLES names the folder of the examples' programs");
    return folder;
}
inline std::string quoted(const std::string& word) { return " '" + word + "'"; }

/// Runs an example in `folder`, without data but what its arguments name; what it says on both streams.
inline command_result run_in(const std::string& folder, const std::string& name, const std::string& arguments) {
    // A program that trains where it should refuse would take hours.
    return run_command("cd" + quoted(folder) + " && SINTER_DATA= timeout 200" +
                       quoted(folder_of_examples() + '/' + name) + ' ' + arguments + " 2>&1");
}
inline std::string smoke(const std::string& name) { return folder_of_examples() + "/smoke/" + name; }

inline ptree json_in(const std::string& path) {
    ptree json;
    BOOST_REQUIRE_NO_THROW(read_json(path, json));
    return json;
}
