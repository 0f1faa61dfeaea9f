#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/process.h"

namespace fusescope::test {

/// What a command prints with --json; the test fails where it ends with another status or prints no object, which gives
/// an empty one.
inline Json commandJson(std::vector<std::string> arguments, int status = 0) {
  arguments.emplace_back("--json");
  const ProcessResult result = fusescopeCommand(arguments);
  EXPECT_EQ(result.status, status) << ::testing::PrintToString(arguments) << "\n" << result.err;
  Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.out << result.err;
  return json.is_object() ? json : Json::object();
}

}  // namespace fusescope::test
