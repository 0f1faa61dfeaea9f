#include <gtest/gtest.h>

#include "session/session.h"
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
      "  [labels] l = ai.onnx.ml.Binarizer <threshold=0.5> (x) }",
      ", \"vendor\" : 1, \"ai.onnx.ml\" : 3");
  ASSERT_NE(model, nullptr);
  const auto found = cannotRun(*model);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].node, "odd");
  EXPECT_EQ(found[0].op, "vendor::Odd");
  EXPECT_EQ(found[0].code, "build.unknown_operator");
  EXPECT_NE(found[0].message.find("custom domain vendor"), std::string::npos) << found[0].message;
  EXPECT_EQ(found[1].node, "labels");
  EXPECT_EQ(found[1].op, "ai.onnx.ml::Binarizer");
  const Json json = inspectJson(*model);
  EXPECT_EQ(json["cannot_run"][0]["operator"], "vendor::Odd");
  EXPECT_EQ(json["operators"]["vendor::Odd"], 1);
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
    fallsBack = fallsBack || (decision.code == "partition.not_supported" && decision.subjects[0].name == "odd");
  EXPECT_TRUE(fallsBack);
}

}  // namespace
}  // namespace fusescope::test
