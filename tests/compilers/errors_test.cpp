// What lowered types do in networks that another compiler runs, and the pins that mend it.
#include "tests/compilers/added_compiler_fixture.h"

namespace fusescope::test {
namespace {

class AddedCompilerErrors : public AddedCompiler {
 public:
  static std::vector<std::string> lowered(const char* verb, std::vector<std::string> more) {
    std::vector<std::string> arguments{verb,       sample("fp16_overflow"), "--compiler",
                                       "abacus",   "--precision",           "f16",
                                       "--inputs", arrays("fp16_overflow")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(AddedCompilerErrors, AreThoseOfOutputsAgainstFloat32) {
  const Json report = json({"errors", everyFate(), "--compiler", "abacus", "--precision", "f16"});
  EXPECT_EQ(report["against"], "f32");
  ASSERT_EQ(report["outputs"].size(), 1U);
  const Json& output = report["outputs"][0];
  EXPECT_GT(output["carried"]["max_over_rms"].get<double>(), 0);
  EXPECT_LT(output["carried"]["max_over_rms"].get<double>(), 0.1);
  EXPECT_TRUE(output["local"].is_null()) << "nobody can hand its kernels exact inputs";
  std::set<std::string> told;
  for (const Json& tensor : report["tensors"]) told.insert(tensor["name"].get<std::string>());
  EXPECT_TRUE(told.contains("y"));
  EXPECT_GT(told.size(), 1U) << "what passes between segments is told, too";
  const Json plan = json({"plan", everyFate(), "--compiler", "abacus", "--precision", "f16"});
  for (const Json& segment : plan["segments"])
    for (const Json& border : segment["borders"]) told.erase(border["value"].get<std::string>());
  EXPECT_TRUE(told.empty()) << "abacus hands out nothing inside: " << ::testing::PrintToString(told);
  const ProcessResult printed = command({"errors", everyFate(), "--compiler", "abacus", "--precision", "f16"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_NE(printed.out.find("output y: max|Δ|"), std::string::npos) << printed.out;
  EXPECT_EQ(report["compiler"], "abacus");
  EXPECT_NE(printed.out.find("by native, lowered by the compiler abacus"), std::string::npos) << printed.out;
}

TEST_F(AddedCompilerErrors, PinsHoldThere) {
  const std::vector<std::string> expect{"--expect", arrays("fp16_overflow"), "--tol-rms", "1e-2"};
  EXPECT_EQ(command(lowered("run", expect)).status, 1);
  std::vector<std::string> pinned = expect;
  for (const char* node : {"node_linear_1", "node_relu_1", "node_layer_norm"})
    pinned.insert(pinned.end(), {"--pin", std::string(node) + "=f32"});
  const ProcessResult result = command(lowered("run", pinned));
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

TEST_F(AddedCompilerErrors, AreTunedToAGoal) {
  const std::string directives = file("pins.json");
  const Json report = json(lowered("tune", {"--max-error", "1e-2", "-o", directives}));
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["compiler"], "abacus");
  EXPECT_FALSE(report["chosen"]["pins"].empty());
  EXPECT_LE(report["chosen"]["error"].get<double>(), 1e-2);
  const ProcessResult result =
      command({"run", sample("fp16_overflow"), "--compiler", "abacus", "--directives", directives, "--inputs",
               arrays("fp16_overflow"), "--expect", arrays("fp16_overflow"), "--tol-rms", "1.1e-2"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

}  // namespace
}  // namespace fusescope::test
