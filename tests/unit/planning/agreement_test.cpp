// How well our plan predicts the kernels and types that another compiler reports.
#include "base/json.h"
#include "planning/read_back/compare_prediction.h"
#include "tests/unit/planning/read_back_testing.h"

namespace fusescope {
namespace {

using testing::chainModel;
using testing::chainPlan;
using testing::cpuOptions;
using testing::ModelBuilder;
using testing::planned;
using testing::Told;

TEST(Agreement, IsCountedOverEdges) {
  Told none(chainPlan());
  EXPECT_EQ(none.make()->agreement.edges, 0);
  EXPECT_FALSE(none.make()->agreement.f1());
  EXPECT_TRUE(toJson(*none.make())["agreement"].is_null());

  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId fc = b.node("MatMul", "fc", {x, b.weight("w", {8, 8})}, {4, 8});
  const ValueId relu = b.node("Relu", "relu", {fc}, {4, 8});
  const ValueId twice = b.node("Add", "twice", {relu, relu}, {4, 8});
  b.output(b.node("MatMul", "last", {twice, b.weight("w2", {8, 8})}, {4, 8}));
  Told t(planned(b.build(), cpuOptions()));
  ASSERT_EQ(testing::fusions(*t.asked), "matmul{fc relu twice} matmul{last}");
  t.kernel("a", {"fc", "relu"});
  t.kernel("b", {"twice", "last"});
  const Agreement agreement = t.make()->agreement;
  EXPECT_EQ(agreement.edges, 3) << "a pair of nodes is one edge";
  EXPECT_EQ(agreement.predicted, 2);
  EXPECT_EQ(agreement.made, 2);
  EXPECT_EQ(agreement.both, 1);
  t.told.kernels.back().region = "b";
  EXPECT_EQ(t.make()->agreement.edges, 1) << "a region that is told as a whole is no kernel";

  EXPECT_EQ(sharedKernelsText(Agreement()), "");
  const Agreement apart{.edges = 5, .predicted = 3};
  EXPECT_EQ(apart.precision(), 0);
  EXPECT_FALSE(apart.recall()) << "there is nothing that could be found again";
  EXPECT_FALSE(apart.f1());
  EXPECT_EQ(sharedKernelsText(apart), "of 5 edges, none is inside a kernel that it made; we predicted 3");
  EXPECT_EQ(sharedKernelsText({.edges = 5, .made = 3}),
            "of 5 edges 3 are inside a kernel, and we predicted none of them: recall 0.00");
  const Agreement byHand{.edges = 9, .predicted = 4, .made = 5, .both = 3};
  EXPECT_DOUBLE_EQ(*byHand.precision(), 0.75);
  EXPECT_DOUBLE_EQ(*byHand.recall(), 0.6);
  EXPECT_DOUBLE_EQ(*byHand.f1(), 6.0 / 9.0);
  EXPECT_EQ(
      sharedKernelsText(byHand),
      "of 9 edges 5 are inside a kernel; we predicted 4, and 3 of them are right: precision 0.75, recall 0.60, F1 "
      "0.67");
}

/// Four products in a row, each in a kernel of its own.
std::shared_ptr<const Plan> fourProducts() {
  ModelBuilder b;
  ValueId value = b.input("x", {4, 8});
  for (const char* name : {"one", "two", "three", "four"})
    value = b.node("MatMul", name, {value, b.weight(std::string("w_") + name, {8, 8})}, {4, 8});
  b.output(value);
  return planned(b.build(), cpuOptions());
}

TEST(Agreement, CountsTheTypesOfStoredEdges) {
  Told t(fourProducts());
  ASSERT_EQ(testing::fusions(*t.asked), "matmul{one} matmul{two} matmul{three} matmul{four}");
  t.kernel("a", {"one"}).outputs = {{.value = t.value("one_out"), .type = DataType::F16}};
  t.kernel("b", {"two"}).outputs = {{.value = t.value("two_out"), .type = DataType::F32}};
  t.kernel("c", {"three"});
  t.kernel("d", {"four"});
  const auto made = t.make();
  const Agreement& agreement = made->agreement;
  EXPECT_EQ(agreement.edges, 3);
  EXPECT_EQ(agreement.stored, 2);
  EXPECT_EQ(agreement.storedAlike, 1);
  EXPECT_EQ(agreement.storedNotDisclosed, 1);
  EXPECT_EQ(agreement.otherTypes, (std::vector<OtherStoredType>{{DataType::F32, DataType::F16, 1}}));
  EXPECT_DOUBLE_EQ(*agreement.typesShare(), 0.5);
  EXPECT_EQ(storedTypesText(agreement),
            "of 3 edges that both keep in memory 1 has the type that we predicted (0.50); predicted f32, in fact f16: "
            "1; of 1 the type is not disclosed");
  const Json json = toJson(*made)["agreement"]["stored_types"];
  EXPECT_EQ(json["edges"], 2);
  EXPECT_EQ(json["alike"], 1);
  EXPECT_EQ(json["share"], 0.5);
  EXPECT_EQ(json["not_disclosed"], 1);
  EXPECT_EQ(json["other"], Json::array({{{"predicted", "f32"}, {"made", "f16"}, {"edges", 1}}}));
}

TEST(Agreement, AnEdgeThatOneSideKeepsInAKernelHasNoStoredType) {
  Told t(fourProducts());
  t.kernel("a", {"one", "two"}).outputs = {{.value = t.value("two_out"), .type = DataType::F16}};
  t.kernel("b", {"three", "four"});
  const Agreement agreement = t.make()->agreement;
  EXPECT_EQ(agreement.edges, 3);
  EXPECT_EQ(agreement.stored, 1) << "the one between the kernels";
  EXPECT_EQ(agreement.storedAlike, 0);
  EXPECT_EQ(agreement.storedNotDisclosed, 0);
  EXPECT_EQ(storedTypesText(Agreement()), "");
  EXPECT_EQ(storedTypesText({.edges = 1, .storedNotDisclosed = 1}),
            "of 1 edge that both keep in memory the compiler reports no types");
}

TEST(Agreement, APlanForTheSameCompilerOrItsPlannedTargetIsAPrediction) {
  Told t(chainPlan());
  const auto made = t.make();
  EXPECT_TRUE(isPredictionOf(*t.asked, *made));
  EXPECT_FALSE(isPredictionOf(*planned(chainModel(), cpuOptions()), *made)) << "it is what our own engine runs";
  EXPECT_FALSE(isPredictionOf(*fourProducts(), *made)) << "it is another network";
  EXPECT_FALSE(isPredictionOf(*chainPlan({testing::pin("fc1=f16")}), *made)) << "another type was asked for";
  PlanOptions options = cpuOptions();
  options.target = "openvino";
  const auto ofTarget = planned(chainModel(), options);
  options.compiler = "other";
  EXPECT_TRUE(isPredictionOf(*ofTarget, *Told(planned(chainModel(), options)).make()));
}

}  // namespace
}  // namespace fusescope
