// What another compiler made of a plan: kernels over its nodes, and what is found from them.
#include "base/json.h"
#include "planning/fused_node_facts.h"
#include "planning/plan_totals.h"
#include "planning/segment_borders.h"
#include "tests/unit/planning/read_back_testing.h"

namespace fusescope {
namespace {

using testing::chainModel;
using testing::chainPlan;
using testing::cpuOptions;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;
using testing::Told;

/// "name{nodes} <- inputs -> outputs; …"
std::string kernelsText(const Cover& cover) {
  std::string text;
  for (const FusedNode& fused : cover.fusedNodes) {
    text += (text.empty() ? "" : "; ") + fused.name + "{";
    for (const NodeId node : fused.nodes)
      text += (node == fused.nodes.front() ? "" : " ") + cover.graph().node(node).name;
    text += "} <-";
    for (const ValueId value : fused.inputs) text += " " + cover.graph().value(value).name;
    text += " ->";
    for (const FusedOutput& output : fused.outputs) text += " " + cover.graph().value(output.value).name;
  }
  return text;
}

TEST(ReadBackPlan, KernelsHaveTheValuesThatTheGraphSays) {
  Told t(chainPlan());
  t.kernel("a", {"fc1", "relu"});
  t.kernel("b", {"flat", "exp", "fc2"});
  const auto made = t.make();
  EXPECT_EQ(kernelsText(*made), "a{fc1 relu} <- x -> relu_out; b{flat exp fc2} <- relu_out -> fc2_out");
  EXPECT_EQ(made->source, CoverSource::ReadBack);
  EXPECT_EQ(asReadBack(*made), made.get());
  EXPECT_EQ(asReadBack(*t.asked), nullptr);
  EXPECT_EQ(asPlan(*made), nullptr);
  EXPECT_EQ(&requestedPlan(*made), t.asked.get());
  EXPECT_EQ(made->fusedNodes[0].innerEdges.at(0).value, t.value("fc1_out"));
  EXPECT_EQ(made->fusedNodes[0].segment, SegmentId(0));
  EXPECT_FALSE(isPrediction(*made, made->fusedNodes[0]));
  EXPECT_TRUE(made->bodies.empty());
  EXPECT_FALSE(made->predictedMs);
}

TEST(ReadBackPlan, TheOnlyOutputWithoutAValueIsTheOnlyOneThatIsUsed) {
  Told t(chainPlan());
  t.kernel("product", {"fc1", "relu"}).outputs = {{.value = {}, .type = DataType::F16}};
  t.kernel("rest", {"exp", "fc2"});
  t.told.fates[t.node("flat")] = Fate::View;
  const auto made = t.make();
  ASSERT_EQ(made->kernels[0].outputs.size(), 1U);
  EXPECT_EQ(made->kernels[0].outputs[0].value, t.value("relu_out"));
  EXPECT_EQ(made->kernels[0].outputs[0].type, DataType::F16);

  Told codes(chainPlan());
  codes.kernel("product", {"fc1", "relu"}).outputs = {{.value = {}, .type = DataType::I8}};
  codes.kernel("rest", {"exp", "fc2"});
  codes.told.fates[codes.node("flat")] = Fate::View;
  EXPECT_FALSE(codes.make()->kernels[0].outputs[0].value.valid()) << "codes are not what the node makes";

  Told partial(chainPlan());
  partial.kernel("partial", {"fc1", "relu"}).outputs = {{.value = {}, .type = DataType::F16}};
  partial.kernel("whole", {"relu", "exp", "fc2"});
  partial.told.fates[partial.node("flat")] = Fate::View;
  const auto inParts = partial.make();
  for (const KernelValue& output : inParts->kernels[0].outputs)
    EXPECT_TRUE(!output.value.valid() || output.type == DataType::Undefined) << "it may be a part of the result";
}

TEST(ReadBackPlan, ProducersComeFirstAlsoThroughNodesWithoutAKernel) {
  Told t(chainPlan());
  t.kernel("last", {"exp", "fc2"});
  t.kernel("first", {"fc1", "relu"});
  t.told.fates[t.node("flat")] = Fate::View;
  EXPECT_EQ(kernelsText(*t.make()), "first{fc1 relu} <- x -> relu_out; last{exp fc2} <- flat_out -> fc2_out");
}

TEST(ReadBackPlan, AViewBetweenTheNodesOfAKernelIsInside) {
  Told t(chainPlan());
  t.kernel("a", {"fc1", "relu", "exp", "fc2"});
  t.told.fates[t.node("flat")] = Fate::View;
  const auto made = t.make();
  EXPECT_EQ(kernelsText(*made), "a{fc1 relu exp fc2} <- x -> fc2_out");
  EXPECT_EQ(made->fusedNodes[0].innerEdges.size(), 3U) << "what the view makes is of no node of the kernel";
}

TEST(ReadBackPlan, ANodeMayBeInTwoKernels) {
  Told t(chainPlan());
  t.kernel("a", {"fc1"}, DataType::F32);
  t.kernel("partial", {"relu", "exp"}, DataType::F16).outputs = {{.value = {}, .type = DataType::F16}};
  t.kernel("rest", {"exp", "fc2"}, DataType::F32).inputs = {{.value = {}, .type = DataType::F16}};
  const auto made = t.make();
  EXPECT_EQ(made->kernelsOf(t.node("exp")), (std::vector{FusedNodeId(1), FusedNodeId(2)}));
  EXPECT_EQ(kernelsOf(*made, t.node("exp")), made->kernelsOf(t.node("exp")));
  EXPECT_EQ(made->fusedNodeOf(t.node("exp")), &made->fusedNodes[1]) << "the first";
  EXPECT_EQ(made->calculates[t.node("exp").index], DataType::F16);
  EXPECT_EQ(calculatedTypes(*made, made->fusedNodes[2]), std::vector{DataType::F32}) << "as its compiler tells";
  EXPECT_EQ(made->fateOf(t.node("exp")), Fate::Kernel);
  EXPECT_EQ(kernelsOf(*t.asked, t.node("exp")).size(), 1U);
}

TEST(ReadBackPlan, ANodeInNoKernelHasTheFateThatIsTold) {
  for (const Fate fate : {Fate::Folded, Fate::Removed, Fate::View, Fate::Merged, Fate::NotDisclosed}) {
    Told t(chainPlan());
    t.kernel("a", {"fc1", "relu", "exp", "fc2"});
    t.told.fates[t.node("flat")] = fate;
    t.told.fates[t.node("exp")] = fate;
    const auto made = t.make();
    EXPECT_EQ(made->fateOf(t.node("flat")), fate);
    EXPECT_EQ(made->fateOf(t.node("exp")), Fate::Kernel) << "a kernel holds it, whatever is told";
    EXPECT_EQ(made->fusedNodeOf(t.node("flat")), nullptr);
    EXPECT_TRUE(kernelsOf(*made, t.node("flat")).empty());
  }
  for (const Fate fate : {Fate::Kernel, Fate::Fallback}) {
    Told t(chainPlan());
    t.told.fates[t.node("flat")] = fate;
    EXPECT_EQ(t.make()->fateOf(t.node("flat")), Fate::NotDisclosed) << name(fate) << " is not what is seen";
  }
  EXPECT_EQ(Told(chainPlan()).make()->fateOf(NodeId(0)), Fate::NotDisclosed) << "nothing is told";
}

TEST(ReadBackPlan, KernelsWithoutNodesStandAmongTheOthers) {
  Told t(chainPlan());
  ReadBackKernel& weights = t.kernel("prepare", {});
  weights.once = true;
  weights.inputs = {{.value = t.value("w1")}};
  t.kernel("a", {"fc1", "relu", "flat", "exp", "fc2"});
  ReadBackKernel& move = t.kernel("move", {});
  move.inputs = {{.value = t.value("fc2_out"), .format = "nchw"}};
  move.outputs = {{.value = t.value("fc2_out"), .format = "nhwc"}};
  t.kernel("move", {});
  const auto made = t.make();
  EXPECT_EQ(kernelsText(*made),
            "prepare{} <- ->; a{fc1 relu flat exp fc2} <- x -> fc2_out; move{} <- fc2_out -> fc2_out; move{} <- ->");
  EXPECT_TRUE(made->kernels[0].once);
  EXPECT_FALSE(made->fusedNodes[0].root.valid());
  EXPECT_EQ(made->fusedNodes[0].segment, SegmentId(0)) << "there is one segment";
  EXPECT_NE(made->fusedNodes[2].identity, made->fusedNodes[3].identity) << "of one name";
  EXPECT_EQ(totalsWithoutBodies(*made).fusedNodes, 4);
  EXPECT_EQ(predictedTime(*made).unknown, 4);
  EXPECT_EQ(toJson(*made)["kernels"][0]["nodes"], Json::array());
  EXPECT_NE(printPlan(*made).find("what other made of the plan"), std::string::npos);
}

TEST(ReadBackPlan, AFallbackSegmentStaysOurs) {
  Told t(chainPlan({fallbackDirective("relu")}));
  t.kernel("b", {"flat", "exp", "fc2"}, DataType::F32);
  t.kernel("move", {});
  t.kernel("a", {"fc1"}, DataType::F32);
  t.told.fates[t.node("relu")] = Fate::Removed;
  const auto made = t.make();
  const FusedNode& ours = *t.asked->fusedNodeOf(t.node("relu"));
  ASSERT_TRUE(made->fusedNodeOf(t.node("relu")) != nullptr);
  const FusedNode& now = *made->fusedNodeOf(t.node("relu"));
  EXPECT_TRUE(made->kernels[now.id.index].isOurs);
  EXPECT_EQ(now.identity, ours.identity);
  EXPECT_EQ(now.compute, ours.compute);
  EXPECT_EQ(made->fateOf(t.node("relu")), Fate::Fallback);
  EXPECT_EQ(made->storedType(t.value("relu_out")), DataType::F32);
  EXPECT_EQ(made->storedType(t.value("fc1_out")), DataType::Undefined) << "its compiler does not tell";
  EXPECT_LT(made->fusedNodeOf(t.node("fc1"))->id, now.id);
  EXPECT_LT(now.id, made->fusedNodeOf(t.node("exp"))->id);
  EXPECT_FALSE(made->findFusedNode("move")->segment.valid()) << "there are two segments that it may be of";
  EXPECT_TRUE(toJson(*made)["fused_nodes"][made->findFusedNode("move")->id.index]["segment"].is_null());
  EXPECT_NE(printPlan(*made).find("of no segment"), std::string::npos);
}

TEST(ReadBackPlan, BordersAreFoundAlsoAtNodesWithoutAKernel) {
  Told t(chainPlan({fallbackDirective("relu")}));
  t.kernel("a", {"fc1"}).outputs = {{.value = t.value("fc1_out"), .type = DataType::F32}};
  t.kernel("b", {"exp", "fc2"});
  const auto made = t.make();
  const auto borders = segmentBorders(*made), planned = segmentBorders(*t.asked);
  ASSERT_EQ(borders.size(), planned.size());
  for (std::size_t i = 0; i < borders.size(); ++i) {
    ASSERT_EQ(borders[i].size(), planned[i].size()) << i;
    for (std::size_t j = 0; j < borders[i].size(); ++j) EXPECT_EQ(borders[i][j].value, planned[i][j].value);
  }
  const auto ofOutput = std::ranges::find(borders.back(), t.value("fc2_out"), &SegmentBorder::value);
  EXPECT_FALSE(ofOutput->bytes) << "its type is not told";
}

TEST(ReadBackPlan, TypesAreThoseThatAreTold) {
  Told t(chainPlan());
  ReadBackKernel& first = t.kernel("a", {"fc1", "relu"}, DataType::F16);
  first.inputs = {{.value = t.value("x"), .type = DataType::F16, .format = "nchw"}, {.value = t.value("w1")}};
  first.outputs = {{.value = t.value("relu_out"), .type = DataType::F16}};
  t.kernel("b", {"exp", "fc2"}).inputs = {{.value = t.value("flat_out"), .type = DataType::BF16}};
  t.told.fates[t.node("flat")] = Fate::View;
  const auto made = t.make();
  EXPECT_EQ(made->storedType(t.value("x")), DataType::F32) << "the network's own";
  EXPECT_EQ(made->fusedNodes[0].inputs, std::vector{t.value("x")}) << "weights are none";
  EXPECT_EQ(made->fusedNodes[0].reads, std::vector{DataType::F16});
  EXPECT_EQ(made->kernels[0].inputs.size(), 2U);
  EXPECT_EQ(made->storedType(t.value("relu_out")), DataType::F16);
  EXPECT_EQ(made->storedType(t.value("flat_out")), DataType::BF16) << "as it is read, since no kernel makes it";
  EXPECT_EQ(made->storedType(t.value("fc2_out")), DataType::Undefined);
  const auto grantOf = [&](const std::string& node) {
    return std::ranges::find(made->precisionMap, t.node(node), &PrecisionGrant::node)->granted;
  };
  EXPECT_EQ(grantOf("fc1"), DataType::F16);
  EXPECT_EQ(grantOf("exp"), DataType::Undefined);
  EXPECT_EQ(grantOf("flat"), DataType::BF16) << "what moves has the type of its result";
}

/// Of an engine that others built the files say what it is handed; of one that we had built we chose it.
TEST(ReadBackPlan, InputsAndOutputsOfAnEngineOfOthersHaveTheTypesOfItsBindings) {
  Told t(chainPlan());
  const auto moves = [&](const std::string& name, const std::string& value, DataType from, DataType to) {
    ReadBackKernel& kernel = t.kernel(name, {}, DataType::Undefined);
    kernel.inputs = {{.value = t.value(value), .type = from}};
    kernel.outputs = {{.value = t.value(value), .type = to}};
  };
  moves("reformat", "x", DataType::F16, DataType::BF16);
  t.kernel("a", {"fc1", "relu"}).inputs = {{.value = t.value("x"), .type = DataType::BF16}};
  t.kernel("b", {"flat", "exp", "fc2"}).outputs = {{.value = t.value("fc2_out"), .type = DataType::BF16}};
  moves("back", "fc2_out", DataType::BF16, DataType::F16);
  EXPECT_EQ(t.make()->storedType(t.value("x")), DataType::F32);
  EXPECT_EQ(t.make()->storedType(t.value("fc2_out")), DataType::BF16);
  t.told.placement.emplace();
  const auto made = t.make();
  EXPECT_EQ(made->storedType(t.value("x")), DataType::F16);
  EXPECT_EQ(made->storedType(t.value("fc2_out")), DataType::F16);
  const auto borders = segmentBorders(*made);
  ASSERT_EQ(borders.front().size(), 2U);
  for (const SegmentBorder& border : borders.front()) EXPECT_EQ(border.type, DataType::F16);
  const auto again = readBackPlanFromJson(toJson(*made), t.asked);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value()->storedTypes, made->storedTypes);
}

TEST(ReadBackPlan, IdentityIsOurOwnForTheSameNodes) {
  Told t(chainPlan());
  for (const FusedNode& fused : t.asked->fusedNodes) {
    ReadBackKernel& kernel = t.kernel("their " + fused.name, {});
    for (const NodeId node : fused.nodes) kernel.nodes.emplace_back(node, Certainty::Verified);
  }
  const auto made = t.make();
  ASSERT_EQ(made->fusedNodes.size(), t.asked->fusedNodes.size());
  for (std::size_t i = 0; i < made->fusedNodes.size(); ++i)
    EXPECT_EQ(made->fusedNodes[i].identity, t.asked->fusedNodes[i].identity);
  Told others(t.asked);
  others.kernel("all", {"fc1", "relu", "flat", "exp", "fc2"});
  others.kernel("half", {"fc2"});
  others.kernel("other half", {"fc2"});
  const auto twice = others.make();
  EXPECT_EQ(twice->fusedNodes[1].identity, t.asked->fusedNodeOf(t.node("fc2"))->identity);
  EXPECT_NE(twice->fusedNodes[1].identity, twice->fusedNodes[2].identity) << "two kernels of the same nodes";
}

TEST(ReadBackPlan, WhatIsNotOfTheNetworkIsAnErrorWithItsPlace) {
  Told twice(chainPlan());
  twice.kernel("a", {"fc1", "fc1"});
  EXPECT_EQ(twice.error().where.node, "fc1");
  EXPECT_NE(twice.error().text().find("contains a node twice"), std::string::npos);
  Told fallback(chainPlan({fallbackDirective("relu")}));
  fallback.kernel("a", {"fc1", "relu"});
  EXPECT_EQ(fallback.error().where.node, "relu");
  EXPECT_NE(fallback.error().text().find("fallback"), std::string::npos);
  for (const NodeId bad : {NodeId(), NodeId(1000)}) {
    Told out(chainPlan());
    out.kernel("a", {}).nodes.emplace_back(bad, Certainty::Named);
    EXPECT_NE(out.error().text().find("the kernel 'a' contains a node that the network does not have"),
              std::string::npos);
    Told fate(chainPlan());
    fate.told.fates[bad] = Fate::Folded;
    fate.error();
    Told pinned(chainPlan());
    pinned.told.pins.push_back({.node = bad});
    pinned.error();
  }
  Told value(chainPlan());
  value.kernel("a", {"fc1"}).inputs = {{.value = ValueId(1000)}};
  value.error();
  Told conversion(chainPlan());
  conversion.told.conversions.push_back({.value = ValueId(1000)});
  conversion.error();
  Told evidence(chainPlan());
  evidence.told.decisions.push_back(evidence.asked->decisions.front());
  evidence.told.decisions.back().evidence = {static_cast<std::uint32_t>(evidence.asked->decisions.size())};
  evidence.error();
}

TEST(ReadBackPlan, PinsAreJudgedByTheirKernels) {
  Told t(chainPlan({pin("fc1=f32"), pin("relu=f16"), pin("exp=f32"), pin("fc2=f16")}));
  t.kernel("a", {"fc1"}, DataType::F32);
  t.kernel("b", {"relu"}, DataType::F32);
  t.kernel("c", {"exp"}, DataType::F32);
  t.kernel("c again", {"exp"}, DataType::F16);
  t.kernel("d", {"fc2"});
  const auto made = t.make();
  const auto pinOf = [](const ReadBackPlan& plan, NodeId node) {
    return *std::ranges::find(plan.pins, node, &ReadBackPin::node);
  };
  ASSERT_EQ(made->pins.size(), 4U);
  EXPECT_EQ(pinOf(*made, t.node("fc1")).result, PinResult::Obeyed);
  EXPECT_TRUE(pinOf(*made, t.node("fc1")).why.empty());
  EXPECT_EQ(pinOf(*made, t.node("relu")).result, PinResult::Widened);
  EXPECT_EQ(pinOf(*made, t.node("relu")).granted, DataType::F32);
  EXPECT_EQ(pinOf(*made, t.node("exp")).result, PinResult::Ignored) << "one of its kernels is narrower";
  EXPECT_EQ(pinOf(*made, t.node("fc2")).result, PinResult::NotDisclosed);
  EXPECT_EQ(pinOf(*made, t.node("fc2")).granted, std::nullopt);
  EXPECT_FALSE(pinOf(*made, t.node("fc2")).why.empty());

  t.told.kernels.back().outputs = {{.value = t.value("fc2_out"), .type = DataType::F16}};
  EXPECT_EQ(pinOf(*t.make(), t.node("fc2")).result, PinResult::Obeyed) << "as what it writes says";
  t.told.kernels.pop_back();
  t.told.fates[t.node("fc2")] = Fate::Folded;
  EXPECT_NE(pinOf(*t.make(), t.node("fc2")).why.find("when the network was compiled"), std::string::npos);
  EXPECT_EQ(t.make()->decisions.back().code, "build.pin_without_kernel");
  t.told.pins = {{.node = t.node("fc1"), .asked = DataType::F32, .result = PinResult::Ignored, .why = "Tuned away."}};
  EXPECT_EQ(pinOf(*t.make(), t.node("fc1")).why, "Tuned away.") << "the compiler knows best";
}

/// a1 -> m1 -> a2 -> m2 -> a3, where a is Tanh and m is Exp, in f16.
std::shared_ptr<const Plan> alternatingPlan(Directives directives) {
  ModelBuilder b;
  ValueId at = b.input("x", {4, 8});
  for (const char* name : {"a1", "m1", "a2", "m2", "a3"})
    at = b.node(name[0] == 'a' ? "Tanh" : "Exp", name, {at}, {4, 8});
  b.output(at);
  PlanOptions options = cpuOptions(std::move(directives));
  options.compiler = "other";
  options.precisions = {DataType::F16};
  return planned(b.build(), options);
}

TEST(ReadBackPlan, APinMayMoveToANeighbour) {
  const auto tell = [](Directives directives, const std::map<std::string, DataType>& types) {
    Told t(alternatingPlan(std::move(directives)));
    for (const auto& [name, type] : types) t.kernel("kernel of " + name, {name}, type);
    return t;
  };
  constexpr DataType kWide = DataType::F32, kNarrow = DataType::F16;
  Told t = tell({pin("m1=f32")}, {{"a1", kNarrow}, {"m1", kNarrow}, {"a2", kWide}, {"m2", kNarrow}, {"a3", kNarrow}});
  const auto made = t.make();
  ASSERT_EQ(made->pins.size(), 1U);
  EXPECT_EQ(made->pins[0].result, PinResult::Moved);
  EXPECT_EQ(name(made->pins[0].result), "moved");
  EXPECT_EQ(made->pins[0].granted, kNarrow);
  EXPECT_NE(made->pins[0].why.find("kernel of a2"), std::string::npos) << made->pins[0].why;
  EXPECT_EQ(made->decisions.back().code, "build.pin_moved");

  // Without a kernel of its own, too.
  t.told.kernels.erase(t.told.kernels.begin() + 3);
  t.told.fates[t.node("m1")] = Fate::Removed;
  ASSERT_EQ(t.make()->pins[0].granted, std::nullopt);
  EXPECT_EQ(t.make()->pins[0].result, PinResult::Moved);

  const auto resultOf = [&](Directives directives, const std::map<std::string, DataType>& types) {
    return tell(std::move(directives), types).make()->pins[0].result;
  };
  EXPECT_EQ(resultOf({pin("m1=f32"), pin("a2=f32")},
                     {{"a1", kNarrow}, {"m1", kNarrow}, {"a2", kWide}, {"m2", kNarrow}, {"a3", kNarrow}}),
            PinResult::Ignored)
      << "it was asked for there";
  EXPECT_EQ(
      resultOf({pin("m1=f32")}, {{"a1", kNarrow}, {"m1", kNarrow}, {"a2", kWide}, {"m2", kNarrow}, {"a3", kWide}}),
      PinResult::Ignored)
      << "all kernels of this operator have it, with and without the pin";
  EXPECT_EQ(
      resultOf({pin("m1=f32")}, {{"a1", kNarrow}, {"m1", kNarrow}, {"a2", kNarrow}, {"m2", kWide}, {"a3", kNarrow}}),
      PinResult::Ignored)
      << "the kernel that has it is not beside the node";
}

TEST(ReadBackPlan, APinOfANodeWithoutAKernelSaysWhatHappenedToIt) {
  for (const auto& [fate, words] :
       {std::pair(Fate::Removed, "was removed"), std::pair(Fate::Merged, "An equal node")}) {
    Told t(chainPlan({pin("fc2=f16")}));
    t.kernel("a", {"fc1"}, DataType::F32);
    t.told.fates[t.node("fc2")] = fate;
    const ReadBackPin made = t.make()->pins.at(0);
    EXPECT_EQ(made.result, PinResult::WithoutKernel);
    EXPECT_EQ(made.cause, PinCause::WithoutKernel);
    EXPECT_NE(made.why.find(words), std::string::npos) << made.why;
  }
}

TEST(ReadBackPlan, SupportIsWhatTheCompilerSaid) {
  PlanOptions options = cpuOptions();
  options.support = std::make_shared<const CompilerSupport>(CompilerSupport{
      {{.node = "fc1", .isAccepted = true}, {.node = "exp", .isAccepted = true, .message = "as it is"}}});
  const auto made = Told(planned(chainModel(), options)).make();
  ASSERT_EQ(made->support.size(), 5U);
  EXPECT_EQ(made->support[0].isAccepted, true);
  EXPECT_EQ(made->support[1].node, "relu");
  EXPECT_EQ(made->support[1].isAccepted, std::nullopt);
  EXPECT_EQ(made->support[3].message, "as it is");
}

}  // namespace
}  // namespace fusescope
