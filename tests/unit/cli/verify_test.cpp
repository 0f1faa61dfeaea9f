// `verify` over the bundled samples: every tactic of every region against its own nodes.
#include <gtest/gtest.h>

#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

class CliVerify : public ::testing::TestWithParam<const char*> {};

TEST_P(CliVerify, EveryRegionOfASampleIsRight) {
  const auto result = fusescopeCommand({"verify", samplePath(GetParam()), "--seeds", "1", "--json"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const Json json = jsonOf(result);
  EXPECT_EQ(json["ok"], true);
  std::size_t tactics = 0;
  for (const Json& region : json["regions"]) tactics += region["tactics"].size();
  EXPECT_GE(tactics, json["regions"].size() / 2) << "few regions have kernels";
}

INSTANTIATE_TEST_SUITE_P(Samples, CliVerify, testing::Values("digits", "moe_dense", "bert_tiny", "fp16_overflow"),
                         [](const auto& info) { return std::string(info.param); });

// A Relu that takes the greater of 0 and NaN is not wrong, and it is said.
TEST(CliVerifyNotes, WhatBecomesOfNaNIsNoted) {
  const Json json = jsonOf(fusescopeCommand({"verify", samplePath("digits"), "--seeds", "0", "--json"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_NE(json["regions"].dump().find("on NaN and infinities: "), std::string::npos) << json["regions"].dump(1);
}

}  // namespace
}  // namespace fusescope::test
