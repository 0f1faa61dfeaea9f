// Functions of ONNX that import writes as the nodes of their bodies, for targets whose parsers read the file.
#include "planning/optimised_operators.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::findDecision;
using testing::ModelBuilder;
using testing::planned;

/// A Relu that came of `op` of `domain` in the file.
std::shared_ptr<const Model> cameOf(const std::string& domain, const std::string& op) {
  ModelBuilder m;
  m.output(m.node("Relu", "n", {m.input("x", {2, 2})}, {2, 2}));
  Model model = *m.build();
  model.origins[0].domain = domain;
  model.origins[0].op = op;
  return std::make_shared<const Model>(model);
}

bool isTaken(const std::string& target, const std::string& domain, const std::string& op) {
  return planned(cameOf(domain, op), {.target = target})->segments.at(0).kind == SegmentKind::Accelerated;
}

TEST(InlinedOperators, AreRefusedWhereTheParserDoesNotKnowTheFunction) {
  for (const char* target : {"tensorrt-8", "tensorrt-10", "tensorrt-11", "tensorrt-rtx"})
    EXPECT_FALSE(isTaken(target, "ai.onnx.preview", "FlexAttention")) << target;
  const auto plan = planned(cameOf("ai.onnx.preview", "FlexAttention"), {.target = "tensorrt-rtx"});
  const Decision* refusal = findDecision(*plan, "validate.operator_not_supported");
  ASSERT_NE(refusal, nullptr);
  EXPECT_NE(message(*refusal).find("FlexAttention"), std::string::npos) << message(*refusal);
  EXPECT_NE(message(*refusal).find("an export replaces it by the nodes of its function"), std::string::npos);
}

TEST(InlinedOperators, AreTakenWhereItDoes) {
  EXPECT_TRUE(isTaken("tensorrt-11", "", "RotaryEmbedding")) << "the table has it";
  EXPECT_FALSE(isTaken("tensorrt-8", "", "RotaryEmbedding")) << "the table of this version has it not";
  EXPECT_TRUE(isTaken("tensorrt-11", "pkg.mine", "Block")) << "a function of the file, which the parser reads";
  EXPECT_TRUE(isTaken("tensorrt-11", "", "Clip")) << "an operator that normalisation wrote as another";
  EXPECT_TRUE(isTaken("cpu:avx2", "ai.onnx.preview", "FlexAttention")) << "it reads no file";
}

}  // namespace
}  // namespace fusescope
