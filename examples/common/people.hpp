// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <sys/stat.h>
#include <array>
#include <cstdio>

namespace example {

/// People as a census asks about them, in two tables that share none. The columns that the examples
/// use: age, workclass, education_num, marital_status, occupation, sex, capital_gain,
/// hours_per_week, and income, "<=50K" or ">50K" a year.
struct people {
    std::string name;
    sinter::data::csv::table train, test;
};

/// CSV of `n` people that the program makes up, the same for one seed; who they are hangs together
/// as it does in life, and some have not answered everything.
inline std::string made_up_people(int n, std::uint64_t seed) {
    constexpr std::array jobs{"Exec-managerial", "Prof-specialty", "Sales", "Craft-repair", "Adm-clerical",
                              "Other-service", "Handlers-cleaners", "Farming-fishing"};
    std::string csv = "age,workclass,education_num,marital_status,occupation,sex,capital_gain,hours_per_week,income\n";
    for (int i = 0; i < n; ++i) {
        sinter::random_stream random(sinter::base::stream(seed, sinter::base::fnv1a("example/people")),
                                     static_cast<std::uint64_t>(i));
        const auto chance = [&](float p) { return random.uniform() < p; };
        const auto between = [](float x, float low, float high) { return x < low ? low : x > high ? high : x; };
        const float age = 17 + 63 * random.uniform() * (0.4f + 0.6f * random.uniform());
        const float school = between(10 + 2.5f * random.normal(), 1, 16);
        const bool married = chance(between((age - 20) / 25, 0.02f, 0.65f)), woman = chance(0.35f), own = chance(0.12f);
        const bool widowed = !married && chance(between((age - 50) / 40, 0, 0.5f));
        const bool divorced = !married && !widowed && chance(between((age - 25) / 60, 0, 0.4f));
        const auto job = static_cast<std::size_t>(between(7 - (school - 4) * 0.55f + 1.8f * random.normal(), 0, 7));
        const float usual = 40 + (own ? 6.f : 0.f) - (age > 65 ? 14.f : age < 22 ? 10.f : 0.f);
        const float hours = between(usual + 9 * random.normal(), 5, 99);
        const float gain = chance(0.08f) ? __builtin_expf(8 + 1.2f * random.normal()) : 0;
        const float odds = -8.2f + 0.36f * school + (married ? 2.1f : 0.f) + 0.03f * age + 0.03f * hours -
                           0.25f * static_cast<float>(job) + (gain > 5000 ? 3.f : 0.f);
        const bool rich = chance(1 / (1 + __builtin_expf(-odds)));
        csv += std::to_string(static_cast<int>(age)) + (own ? ",Self-emp" : chance(0.15f) ? ",Gov" : ",Private");
        csv += ',' + std::to_string(static_cast<int>(school));
        csv += married ? ",Married-civ-spouse" : widowed ? ",Widowed" : divorced ? ",Divorced" : ",Never-married";
        csv += ',' + std::string(chance(0.05f) ? "" : jobs[job]) + (woman ? ",Female," : ",Male,");
        csv += std::to_string(static_cast<int>(gain)) + ',' + std::to_string(static_cast<int>(hours));
        csv += rich ? ",>50K\n" : ",<=50K\n";
    }
    return csv;
}

/// The census of 1994 (UCI Adult): adult_train.csv and adult_test.csv from `folder` or
/// `folder`/adult. Where there is none, made-up people, and a line on `out` that says so. Errors as
/// csv::read; io_error if one of the two files is missing.
inline people find_people(const std::string& folder, std::uint64_t seed, std::FILE* out = stderr) {
    using namespace sinter::data;
    for (const std::string& place : {folder, folder + "/adult"}) {
        struct stat status {};
        const std::string train = place + "/adult_train.csv";
        if (folder.empty() || ::stat(train.c_str(), &status) != 0) continue;
        return {"UCI Adult", csv::read(train), csv::read(place + "/adult_test.csv")};
    }
    std::fputs("No adult_train.csv in a data folder (--data DIR or SINTER_DATA): "
               "using people that this program makes up.\n",
               out);
    const auto made_up = [seed](const char* part, int n) {
        return csv::parse(made_up_people(n, sinter::base::stream(seed, sinter::base::fnv1a(part))), "made-up people");
    };
    return {"made-up people", made_up("train", 12'000), made_up("test", 4'000)};
}

} // namespace example
