// What this machine reaches, and how each layer is set against it.
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

TEST(Machine, ItsPeaksAreMeasuredAndLayersAreSetAgainstThem) {
  const std::vector<std::string> time{"time",  samplePath("fp16_overflow"), "--per-layer", "--seconds", "0.05",
                                      "--json"};
  const Json machine = jsonOf(fusescopeCommand({"inspect", "--machine", "--json"}));
  EXPECT_EQ(machine["format"], "fusescope.machine");
  EXPECT_TRUE(machine["fingerprint"].contains("capabilities"));
  ASSERT_EQ(machine["types"].size(), 4U);
  EXPECT_EQ(machine["types"][0]["type"], "f32");
  EXPECT_GT(machine["types"][0]["operations_per_second"].get<double>(), 0);
  EXPECT_GT(machine["types"][0]["bytes_per_second"].get<double>(), 0);
  const Json timed = jsonOf(fusescopeCommand(time));
  std::size_t set = 0;
  for (const Json& layer : timed["layers"]) set += layer["roofline_ms"].is_number() ? 1 : 0;
  EXPECT_GT(set, 0U);
}

TEST(Machine, ThreadsAreAskedOfTheMachineAlone) {
  const auto wrong = fusescopeCommand({"inspect", samplePath("fp16_overflow"), "--threads", "1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("--machine"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace fusescope::test
