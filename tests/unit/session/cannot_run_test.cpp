#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "ir/graph.h"
#include "session/artifact.h"
#include "session/inspect.h"
#include "session/open_model.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> openedText(const std::string& graph, const std::string& moreOpsets) {
  const TemporaryFolder folder;
  auto model = openModel(folder.write("model.onnx", onnxBytes(graph, 18, moreOpsets)));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

TEST(CannotRun, NamesEachNodeItsOperatorAndWhy) {
  const auto model = openedText(
      "g (float[2] x) => (float[2] y, float[2] l) {"
      "  [first] a = Relu (x) [odd] b = vendor.Odd <depth=3> (a) [last] y = Neg (b)"
      "  [labels] l = ai.onnx.ml.DictVectorizer <int64_vocabulary=[1, 2]> (x) }",
      ", \"vendor\" : 1, \"ai.onnx.ml\" : 3");
  ASSERT_NE(model, nullptr);
  const auto found = cannotRun(*model);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].node, "odd");
  EXPECT_EQ(found[0].op, "vendor::Odd");
  EXPECT_EQ(found[0].code, "build.unknown_operator");
  EXPECT_NE(found[0].message.find("custom domain vendor"), std::string::npos) << found[0].message;
  EXPECT_EQ(found[1].node, "labels");
  EXPECT_EQ(found[1].op, "ai.onnx.ml::DictVectorizer");
  const Json json = inspectJson(*model);
  EXPECT_EQ(json["cannot_run"][0]["operator"], "vendor::Odd");
  EXPECT_EQ(json["operators"]["vendor::Odd"], 1);
}

std::string toldOf(const std::string& op) {
  const auto model = openedText("g (float[2] x) => (float[2] y) { [odd] y = " + op + " (x) }",
                                ", \"com.microsoft\" : 1, \"com.microsoft.nchwc\" : 1, \"org.pytorch.aten\" : 1");
  if (model == nullptr) return {};
  const auto found = cannotRun(*model);
  EXPECT_EQ(found.size(), 1U) << op;
  return found.empty() ? std::string() : found[0].message;
}

TEST(CannotRun, SaysHowToWriteTheFileWithoutWhatItsDomainStandsFor) {
  const std::string layouts = toldOf("com.microsoft.nchwc.ReorderInput");
  EXPECT_NE(layouts.find("com.microsoft.nchwc::ReorderInput"), std::string::npos) << layouts;
  EXPECT_NE(layouts.find("one kind of CPU"), std::string::npos) << layouts;
  EXPECT_NE(layouts.find("ORT_ENABLE_EXTENDED"), std::string::npos) << layouts;
  EXPECT_NE(toldOf("com.microsoft.Tokenizer").find("ORT_ENABLE_BASIC"), std::string::npos);
  EXPECT_NE(toldOf("org.pytorch.aten.ATen").find("torch.onnx.export"), std::string::npos);
}

TEST(CannotRun, IsSaidByPlanAndBuildWithTheNode) {
  const auto model = openedText("g (float[2] x) => (float[2] y) { [odd] y = com.microsoft.nchwc.ReorderInput (x) }",
                                ", \"com.microsoft.nchwc\" : 1");
  ASSERT_NE(model, nullptr);
  const auto plan = makePlan(model, {});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const auto told = std::ranges::find(plan.value()->decisions, std::string("validate.no_kernel"), &Decision::code);
  ASSERT_NE(told, plan.value()->decisions.end());
  EXPECT_NE(message(*told).find("ORT_ENABLE_EXTENDED"), std::string::npos) << message(*told);
  const auto engine = buildEngine(plan.value(), {});
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().text().find("'odd'"), std::string::npos) << engine.error().text();
  EXPECT_NE(engine.error().text().find("ORT_ENABLE_EXTENDED"), std::string::npos) << engine.error().text();
}

/// What a target's own parser of ONNX files does not know, it does not know in its plain form either.
TEST(CannotRun, OperatorsOfOptimisersOnTargetsThatReadTheFileThemselves) {
  const auto model = openedText(
      "g (float[2,2] x) => (float[2,2] y) { [fused] a = com.microsoft.FusedGemm <activation=\"Relu\"> (x, x)"
      " [last] y = Exp (a) }",
      ", \"com.microsoft\" : 1");
  ASSERT_NE(model, nullptr);
  const auto refusals = [&](const std::string& target) {
    std::vector<std::string> found;
    const auto plan = makePlan(model, {.target = target});
    EXPECT_TRUE(plan.ok());
    for (const Decision& decision : plan.value()->decisions)
      if (decision.code == "validate.operator_not_supported") found.push_back(message(decision));
    return found;
  };
  EXPECT_TRUE(refusals("cpu").empty());
  const auto told = refusals("tensorrt-10");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("com.microsoft::FusedGemm; it can be expressed by Gemm and Relu"), std::string::npos)
      << told[0];
}

TEST(CannotRun, OpaqueNodesArePlannedAround) {
  const auto model =
      openedText("g (float[2] x) => (float[2] y) { [first] a = Relu (x) [odd] b = vendor.Odd (a) [last] y = Neg (b) }",
                 ", \"vendor\" : 1");
  ASSERT_NE(model, nullptr);
  const auto plan = makePlan(model, {});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  bool fallsBack = false;
  for (const Decision& decision : plan.value()->decisions)
    fallsBack = fallsBack || (decision.code == "partition.not_supported" && decision.subjects[0].text() == "odd");
  EXPECT_TRUE(fallsBack);
}

}  // namespace
}  // namespace fusescope::test
