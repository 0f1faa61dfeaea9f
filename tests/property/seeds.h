#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace fusescope::property {

/// What a run of a property test goes through: FUSESCOPE_PROPERTY_FIRST and FUSESCOPE_PROPERTY_CASES, or from 1 on as
/// many as the test says.
struct Seeds {
  std::uint64_t first = 1, cases = 0;

  static Seeds asked(std::uint64_t otherwise) {
    const auto number = [](const char* name, std::uint64_t ifAbsent) {
      const char* text = std::getenv(name);
      return text == nullptr ? ifAbsent : std::strtoull(text, nullptr, 10);
    };
    return {number("FUSESCOPE_PROPERTY_FIRST", 1), number("FUSESCOPE_PROPERTY_CASES", otherwise)};
  }

  /// `check(seed)` says what is wrong, or nothing. Stops after as many failures as anyone reads; gives how many.
  template <class Check>
  int run(Check check) const {
    constexpr int kShown = 10;
    int bad = 0;
    for (std::uint64_t seed = first; seed < first + cases && bad < kShown; ++seed) {
      const std::string problem = check(seed);
      bad += problem.empty() ? 0 : 1;
      EXPECT_EQ(problem, "") << "seed " << seed;
    }
    return bad;
  }
};

}  // namespace fusescope::property
