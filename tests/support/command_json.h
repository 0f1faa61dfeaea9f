#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/process.h"

namespace fusescope::test {

/// Runs a command with --json and returns the object that it prints. The test fails if the command ends with another
/// status, or if it prints no object, in which case the result is not an object.
inline Json commandJson(std::vector<std::string> arguments, int status = 0) {
  arguments.emplace_back("--json");
  const ProcessResult result = fusescopeCommand(arguments);
  EXPECT_EQ(result.status, status) << ::testing::PrintToString(arguments) << "\n" << result.err;
  Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.out << result.err;
  return json.is_object() ? json : Json::object();
}

}  // namespace fusescope::test
