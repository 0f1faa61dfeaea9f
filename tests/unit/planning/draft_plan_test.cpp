#include "planning/draft_plan.h"

#include <gtest/gtest.h>

#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

TEST(DraftPlan, IsThePlanWithoutItsDecisions) {
  for (const char* sample : {"bert_tiny", "tiny_resnet_dynbatch", "moe_dense"}) {
    const auto model = openModel(sampleFolder(sample) / "model.onnx");
    ASSERT_TRUE(model.ok());
    PlanOptions options{.target = "cpu", .precisions = {DataType::F16}};
    options.directives.push_back(parsePin("op:Add=f32").value());
    const auto draft = draftPlan(model.value(), options), plan = makePlan(model.value(), options);
    ASSERT_TRUE(draft.ok() && plan.ok());
    EXPECT_TRUE(draft.value()->decisions.empty());
    EXPECT_EQ(draft.value()->hash, plan.value()->hash);
    Json ofDraft = toJson(*draft.value()), ofPlan = toJson(*plan.value());
    EXPECT_FALSE(ofPlan["decisions"].empty());
    for (Json* json : {&ofDraft, &ofPlan}) {
      json->erase("decisions");
      for (Json& segment : (*json)["segments"]) segment.erase("reasons");  // sentences of decisions
    }
    EXPECT_EQ(ofDraft, ofPlan) << sample;
  }
}

}  // namespace
}  // namespace fusescope::test
