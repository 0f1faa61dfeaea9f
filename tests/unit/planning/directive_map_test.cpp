#include "planning/directive_map.h"

#include "passes/pipelines.h"
#include "tests/unit/passes/prepared_model.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::findDecision;
using testing::pin;
using testing::planned;

Directives numbered(Directives directives) {
  assignIds(directives);
  return directives;
}

Directive outputType(const std::string& text) {
  return parseOutputType(text).value();
}

std::shared_ptr<const Model> threeInARow() {
  testing::ModelBuilder builder;
  ValueId value = builder.input("x", {4});
  for (const char* name : {"a", "b", "c"}) value = builder.node("Relu", name, {value}, {4});
  builder.output(value);
  return builder.build();
}

std::shared_ptr<const Model> withIdentity() {
  return test::sharedModel(
      "g (float[4] x) => (float[4] z) { [relu] a = Relu (x) [ident] b = Identity (a) [exp] z = Exp (b) }");
}

std::shared_ptr<const Model> withBody() {
  return test::sharedModel(
      "g (bool c, float[4] x) => (float[4] z) {"
      "  [the_if] y = If (c) <then_branch = t () => (float[4] t) { [inner_relu] t = Relu (x) },"
      "                       else_branch = e () => (float[4] e) { [inner_exp] e = Exp (x) }>"
      "  [last] z = Relu (y) }");
}

Result<DirectiveMap> resolved(const Model& model, const Directives& directives) {
  return resolveDirectives(model, Target::fromName("cpu:avx2").value(), directives);
}

const Decision* answerTo(const DirectiveMap& map, const std::string& by) {
  const auto found = std::find_if(map.explanations.decisions.begin(), map.explanations.decisions.end(),
                                  [&](const Decision& decision) { return decision.by.text() == by; });
  return found == map.explanations.decisions.end() ? nullptr : &*found;
}

TEST(DirectiveMap, OfTwoThatPreferTheLaterHolds) {
  const auto model = threeInARow();
  const auto map = resolved(*model, numbered({pin("op:Relu=f16"), pin("b=bf16"), pin("b=f32")}));
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_EQ(map.value().pin, (std::vector<int>{0, 2, 0}));
  EXPECT_EQ(map.value().pinsOf[1], (std::vector<int>{2, 1, 0})) << "what would hold if the first went";
  EXPECT_EQ(map.value().nodesOf[0], model->graph->order());
  EXPECT_EQ(map.value().nodesOf[1], std::vector<NodeId>{NodeId(1)}) << "also where another is in force";
  const Decision* first = answerTo(map.value(), "pin:1");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->code, "precision.overridden");
  EXPECT_EQ(first->subjects, std::vector<Subject>{Subject::node("b")});
  EXPECT_EQ(message(*first), "directive pin:1 is overridden by another directive: pin:3 is later");
  EXPECT_EQ(answerTo(map.value(), "pin:2")->arguments["in_force"], "pin:3");
}

TEST(DirectiveMap, ObeyIsNeverOverriddenByPrefer) {
  const auto map = resolved(*threeInARow(), numbered({pin("b=f32:obey"), pin("op:Relu=f16"), pin("a=bf16")}));
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_EQ(map.value().pin, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(map.value().pinsOf[1], (std::vector<int>{0, 1}));
  std::vector<std::string> told;
  for (const Decision& decision : map.value().explanations.decisions) told.push_back(message(decision));
  EXPECT_EQ(told, (std::vector<std::string>{"directive pin:2 is overridden by another directive: pin:1 is marked obey",
                                            "directive pin:2 is overridden by another directive: pin:3 is later"}));
}

TEST(DirectiveMap, TwoThatObeyAndContradictEachOtherAreBadUse) {
  const auto model = threeInARow();
  const auto pins = resolved(*model, numbered({pin("op:Relu=f16:obey"), pin("b=f32:obey")}));
  ASSERT_FALSE(pins.ok());
  EXPECT_EQ(pins.error().where.node, "b");
  for (const char* named : {"pin:1", "--pin op:Relu=f16:obey", "pin:2", "--pin b=f32:obey"})
    EXPECT_NE(pins.error().message.find(named), std::string::npos) << pins.error().message;
  const auto outputs = resolved(*model, numbered({outputType("b=f16:obey"), outputType("value:b_out=f32:obey")}));
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.error().where.node, "b");
  EXPECT_TRUE(resolved(*model, numbered({pin("op:Relu=f16:obey"), pin("b=f16:obey")})).ok()) << "equal types agree";
  EXPECT_TRUE(resolved(*model, numbered({pin("b=f16:obey"), outputType("b=f32:obey")})).ok()) << "of two kinds";
}

TEST(DirectiveMap, ValuesAreThoseOfTheNodeUnlessOneIsNamed) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", {DataType::F32, Shape::of(Dims{4})});
  const ValueId left = editor.addValue("left", {DataType::F32, Shape::of(Dims{2})});
  const ValueId right = editor.addValue("right", {DataType::F32, Shape::of(Dims{2})});
  editor.addNode({.op = "Split", .name = "halves", .inputs = {x}, .outputs = {left, right}});
  editor.addOutput(left);
  editor.addOutput(right);
  Model model;
  model.graph = editor.publish().value();
  const auto map = resolved(model, numbered({outputType("halves=f16"), outputType("value:right=bf16"),
                                             pin("value:left=f32"), splitDirective("value:left")}));
  ASSERT_TRUE(map.ok()) << map.error().text();
  EXPECT_EQ(map.value().outputType[left.index], 0);
  EXPECT_EQ(map.value().outputType[right.index], 1);
  EXPECT_EQ(map.value().outputType[x.index], -1);
  EXPECT_EQ(map.value().pin[0], 2) << "a pin on a value is one on the node that makes it";
  EXPECT_EQ(map.value().split[0], 3);
}

TEST(DirectiveMap, AnInputHasNothingToPin) {
  const auto plan = planned(threeInARow(), testing::cpuOptions({outputType("value:x=f16:obey")}));
  const Decision* nothing = findDecision(*plan, "precision.nothing_to_pin", "x");
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(nothing->by.text(), "output_type:1");
  EXPECT_EQ(message(*nothing), "there is nothing to pin: x is an input of the network; no node calculates it");
}

TEST(DirectiveMap, ANodeThatNormalisationRemovedHasNothingToPin) {
  const auto plan = planned(withIdentity(), testing::cpuOptions({pin("ident=f32:obey")}));
  ASSERT_NE(plan, nullptr);
  const Decision* nothing = findDecision(*plan, "precision.nothing_to_pin", "ident");
  ASSERT_NE(nothing, nullptr);
  EXPECT_TRUE(nothing->allowed);
  EXPECT_EQ(nothing->by.text(), "pin:1");
  EXPECT_EQ(message(*nothing),
            "there is nothing to pin: ident does nothing and is removed; what read its output now reads its input");
  ASSERT_EQ(nothing->evidence.size(), 1U);
  EXPECT_EQ(plan->decisions[nothing->evidence[0]].code, "normalise.identity_removed");
  EXPECT_TRUE(obeyRefusals(*plan).empty());
}

TEST(DirectiveMap, EachKindIsAnsweredWhereTheNodeIsGone) {
  const Directive tactic{.kind = DirectiveKind::Tactic, .pattern = "ident", .rule = "reference"};
  const auto plan = planned(
      withIdentity(), testing::cpuOptions({fallbackDirective("ident"), splitDirective("ident"),
                                           parseNoFuse("pointwise@ident").value(), tactic, outputType("ident=f16")}));
  ASSERT_NE(plan, nullptr);
  const auto codeOf = [&](const std::string& by) {
    const auto found = std::find_if(plan->decisions.begin(), plan->decisions.end(),
                                    [&](const Decision& decision) { return decision.by.text() == by; });
    return found == plan->decisions.end() ? std::string() : found->code;
  };
  EXPECT_EQ(codeOf("fallback:1"), "partition.nothing_to_fall_back");
  EXPECT_EQ(codeOf("split:2"), "fuse.nothing_to_keep_apart");
  EXPECT_EQ(codeOf("no_fuse:3"), "fuse.nothing_to_keep_apart");
  EXPECT_EQ(codeOf("tactic:4"), "tactic.nothing_to_run");
  EXPECT_EQ(codeOf("output_type:5"), "precision.nothing_to_pin");
}

TEST(DirectiveMap, ABodyInFallbackKeepsTheModelsTypes) {
  const auto plan = planned(
      withBody(), testing::cpuOptions({fallbackDirective("the_if"), pin("the_if/inner_exp=f16:obey"),
                                       pin("the_if/inner_relu=f16"), pin("the_if/inner_relu=f32:obey"),
                                       outputType("the_if/inner_exp=bf16:obey"), outputType("the_if/inner_exp=bf16")}));
  ASSERT_NE(plan, nullptr);
  EXPECT_TRUE(plan->bodies.empty());
  const Decision* refused = findDecision(*plan, "precision.pin_refused", "the_if/inner_exp");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->by.text(), "pin:2");
  EXPECT_EQ(
      message(*refused),
      "cannot compute in f16, although the pin is marked obey: it is in the body of the_if, which runs in fallback and "
      "keeps the model's types");
  EXPECT_NE(findDecision(*plan, "precision.pin_not_honoured", "the_if/inner_relu"), nullptr);
  const Decision* granted = findDecision(*plan, "precision.pin_granted", "the_if/inner_relu");
  ASSERT_NE(granted, nullptr) << "the type that it has anyway";
  EXPECT_EQ(granted->by.text(), "pin:4");
  EXPECT_NE(findDecision(*plan, "precision.output_refused", "the_if/inner_exp"), nullptr);
  EXPECT_NE(findDecision(*plan, "precision.output_not_honoured", "the_if/inner_exp"), nullptr);
  EXPECT_EQ(obeyRefusals(*plan).size(), 2U);
}

TEST(DirectiveMap, ABodyInFallbackFusesNothingAnyway) {
  const auto plan =
      planned(withBody(), testing::cpuOptions({fallbackDirective("the_if"), fallbackDirective("the_if/inner_exp"),
                                               splitDirective("the_if/*")}));
  ASSERT_NE(plan, nullptr);
  const Decision* fallback = findDecision(*plan, "partition.nothing_to_fall_back", "the_if");
  ASSERT_NE(fallback, nullptr);
  EXPECT_EQ(message(*fallback),
            "there is nothing to send to fallback: the_if/inner_exp is in the body of the_if, which runs in fallback, "
            "node by node");
  EXPECT_NE(findDecision(*plan, "fuse.nothing_to_keep_apart", "the_if/inner_relu"), nullptr);
}

TEST(DirectiveMap, OfTwoTruncationsTheLaterHolds) {
  const auto map = resolved(*threeInARow(), numbered({parseTruncate("all").value(), parseTruncate("none").value()}));
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map.value().truncate, TruncateModes::both(TruncateMode::None));
  EXPECT_EQ(message(*answerTo(map.value(), "truncate:1")),
            "directive truncate:1 is overridden by another directive: truncate:2 is later");
}

TEST(DirectiveMap, APatternThatMatchesNothingIsLocatedAtItsOption) {
  const auto map = resolved(*threeInARow(), numbered({parseNoFuse("pointwise@d").value()}));
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.error().where.attribute, "--no-fuse pointwise@d");
  EXPECT_EQ(map.error().help,
            "No name is near; fusescope plan lists the nodes, with --json all that they read and write.");
}

TEST(DirectiveMap, ResolvingIsCancelled) {
  std::stop_source source;
  source.request_stop();
  const auto model = threeInARow();
  const auto map =
      resolveDirectives(*model, Target::fromName("cpu:avx2").value(), numbered({pin("a=f16")}), source.get_token());
  ASSERT_FALSE(map.ok());
  EXPECT_TRUE(map.error().cancelled);
}

TEST(DirectiveMap, TwoHundredDirectivesOnFiveThousandNodes) {
  testing::ModelBuilder builder;
  ValueId value = builder.input("x", {4});
  for (int i = 0; i < 5000; ++i) value = builder.node("Relu", "node_" + std::to_string(i), {value}, {4});
  builder.output(value);
  const auto model = builder.build();
  Directives directives;
  for (int i = 0; i < 200; ++i) directives.push_back(pin("node_" + std::to_string(i * 25) + "=f16"));
  const auto map = resolved(*model, numbered(directives));
  ASSERT_TRUE(map.ok()) << map.error().text();
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(map.value().pin[static_cast<std::size_t>(i)], i % 25 == 0 ? i / 25 : -1) << i;
  EXPECT_TRUE(map.value().explanations.decisions.empty());
}

}  // namespace
}  // namespace fusescope
