// What a compiler that divides a network into engines does with values that their target has no type for, beside what
// our plan for that target does with them.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "diff/truncation_diff.h"
#include "ir/text_form.h"
#include "planning/read_back/compiled_engines.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope::test {
namespace {

/// Doubles: an input, three constants, one of which does not fit into float32 and one of which bodies read; an If.
std::shared_ptr<const Model> networkOfDoubles() {
  auto graph = parseGraph(R"(graph "g" {
    input %x: f32[4]
    input %d: f64[4]
    input %c: bool[]
    const %scale: f64[1] = [2]
    const %large: f64[1] = [1e300]
    const %one: f64[1] = [3]
    %w: f64[4] = Cast(%x) <to=11> {name="widen", origins=[0]}
    %m: f64[4] = Mul(%w, %scale) {name="mul", origins=[1]}
    %a: f64[4] = Add(%m, %d) {name="add", origins=[2]}
    %l: f64[4] = Mul(%a, %large) {name="enlarge", origins=[3]}
    %y: f64[4] = If(%c) <else_branch=body (%a) graph "e" { input %a: f64[4]
        %e: f64[4] = Neg(%a) {name="inner_neg", origins=[4]}
        output %e }, then_branch=body (%a, %one) graph "t" {
        input %a: f64[4]
        input %one: f64[1]
        const %two: f64[1] = [7]
        %s: f64[4] = Add(%a, %one) {name="inner_add", origins=[4]}
        %t: f64[4] = Add(%s, %two) {name="inner_add2", origins=[4]}
        output %t }> {name="the_if", origins=[4]}
    output %l
    output %y
  })");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
  Model model;
  model.graph = graph.value();
  for (const auto& [name, op] :
       {std::pair{"widen", "Cast"}, {"mul", "Mul"}, {"add", "Add"}, {"enlarge", "Mul"}, {"the_if", "If"}})
    model.origins.push_back({name, op, ""});
  return std::make_shared<const Model>(std::move(model));
}

/// A compiler with an engine of mul, add and enlarge for TensorRT for RTX; the rest it runs itself.
std::shared_ptr<const ReadBackPlan> engineOfDoubles(bool narrows) {
  const auto asked = testing::planned(networkOfDoubles(), {.target = "torch"});
  const auto node = [&](const char* name) { return *asked->graph().findNode(name); };
  ReadBack told{.compiler = {.name = "divider", .version = "1.2", .environment = "python3"}};
  told.compiler.options[kEnginesFor] = "tensorrt-rtx";
  if (narrows) told.compiler.options[kEnginesNarrow] = "f64";
  told.kernels.push_back({.name = "to", .kind = "to", .nodes = {{node("widen"), Certainty::Named}}});
  told.kernels.push_back(
      {.name = "engine_1",
       .kind = "engine",
       .nodes = {{node("mul"), Certainty::Named}, {node("add"), Certainty::Named}, {node("enlarge"), Certainty::Named}},
       .region = "engine_1"});
  told.kernels.push_back({.name = "cond", .kind = "cond", .nodes = {{node("the_if"), Certainty::Named}}});
  if (narrows)
    for (const char* value : {"w", "d"})
      told.conversions.push_back({.value = *asked->graph().findValue(value),
                                  .from = "f64",
                                  .to = "f32",
                                  .isCast = true,
                                  .kernel = "engine_1"});
  auto made = readBackPlan(asked, told);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
  return made.ok() ? made.value() : nullptr;
}

TruncationDiff besideOurs(const ReadBackPlan& made, const Directives& directives) {
  auto beside = truncationBeside(made, directives);
  EXPECT_TRUE(beside.ok()) << (beside.ok() ? "" : beside.error().text());
  return beside.ok() && beside.value() ? beside.value()->diff : TruncationDiff();
}

const WideValue& valueOf(const TruncationDiff& diff, const std::string& value) {
  static const WideValue kNone;
  const auto found = std::ranges::find(diff.values, value, &WideValue::value);
  EXPECT_NE(found, diff.values.end()) << value << printTruncation(diff);
  return found == diff.values.end() ? kNone : *found;
}

std::string fatesOf(const TruncationDiff& diff, const std::string& value) {
  const WideValue& found = valueOf(diff, value);
  return std::string(name(found.a.fate)) + " " + std::string(name(found.b.fate));
}

TEST(TruncationDiff, ItStandsBesideOursValueByValue) {
  const TruncationDiff diff = besideOurs(*engineOfDoubles(true), {parseTruncate("double").value()});
  EXPECT_EQ(diff.a, "divider 1.2");
  EXPECT_EQ(diff.b, "fusescope for tensorrt-rtx");
  EXPECT_EQ(fatesOf(diff, "d"), "cast_in_front cast_in_front");
  EXPECT_EQ(fatesOf(diff, "w"), "cast_in_front made_narrow");
  EXPECT_EQ(fatesOf(diff, "scale"), "held_narrow held_narrow");
  EXPECT_EQ(fatesOf(diff, "large"), "held_narrow refused") << "our plan looks at the elements";
  EXPECT_EQ(fatesOf(diff, "m"), "not_told made_narrow");
  EXPECT_EQ(valueOf(diff, "d").role, "input");
  EXPECT_EQ(valueOf(diff, "scale").role, "constant");
  EXPECT_EQ(valueOf(diff, "m").role, "made");
  const std::string text = printTruncation(diff);
  for (const char* line : {"~ d (input, f64)\n-     cast to f32 before engine_1\n+     cast to f32 before segment_0\n",
                           "-     stored as f32 in engine_1: its elements are not checked\n",
                           "+     constant large stays f64: 1e+300 does not fit into f32\n",
                           "-     type not disclosed in engine_1: the inputs of the engine are cast\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(printTruncation(diff, 1).find("~ w"), std::string::npos) << "only the first";
  EXPECT_NE(printTruncation(diff, 1).find("and 12 values more"), std::string::npos);
}

TEST(TruncationDiff, AnEngineThatIsNotToldToTruncateHasTypesThatItsTargetLacks) {
  const TruncationDiff diff = besideOurs(*engineOfDoubles(false), {});
  for (const char* value : {"d", "w", "scale", "large", "m", "a", "l"})
    EXPECT_EQ(fatesOf(diff, value), "wide_in_engine stays_wide") << value;
  EXPECT_EQ(valueOf(diff, "d").a.text(DataType::F64), "f64 in engine_1, which its target lacks");
  const std::string ours = valueOf(diff, "d").b.text(DataType::F64);
  EXPECT_NE(ours.find("(fallback)"), std::string::npos) << ours;
  EXPECT_NE(ours.find("its truncation was not requested"), std::string::npos) << ours;
}

TEST(TruncationDiff, SwitchesForInputsAndConstantsAreApart) {
  const auto made = engineOfDoubles(true);
  const TruncationDiff constants =
      besideOurs(*made, {parseTruncateInputs("none").value(), parseTruncateConstants("double").value()});
  EXPECT_EQ(valueOf(constants, "d").b.fate, WideFate::StaysWide);
  EXPECT_EQ(valueOf(constants, "d").b.why, "its truncation was not requested");
  const TruncationDiff inputs =
      besideOurs(*made, {parseTruncateInputs("double").value(), parseTruncateConstants("none").value()});
  EXPECT_EQ(valueOf(inputs, "scale").b.fate, WideFate::StaysWide);
  EXPECT_EQ(valueOf(inputs, "scale").b.why, "its truncation was not requested");
}

TEST(TruncationDiff, WhatBodiesReadAndHaveIsThere) {
  const TruncationDiff diff = besideOurs(*engineOfDoubles(true), {parseTruncate("double").value()});
  EXPECT_EQ(fatesOf(diff, "one"), "stays_wide held_narrow") << "the body runs in no engine";
  EXPECT_NE(valueOf(diff, "one").b.why.find("bodies of the_if read it"), std::string::npos)
      << valueOf(diff, "one").b.why;
  EXPECT_EQ(fatesOf(diff, "the_if/two"), "stays_wide held_narrow");
  EXPECT_EQ(valueOf(diff, "the_if/two").a.where, std::vector<std::string>{"cond"});
  EXPECT_EQ(std::ranges::count(diff.values, "the_if/one", &WideValue::value), 0) << "it is a value of the graph around";
}

TEST(TruncationDiff, OnlyEnginesOfATargetThatLacksTypesHaveOne) {
  const auto model = networkOfDoubles();
  const auto asked = testing::planned(model, {.target = "torch"});
  const auto without = readBackPlan(asked, {.compiler = {.name = "other", .version = "1", .environment = ""}});
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(reportsEngines(*without.value()));
  EXPECT_FALSE(reportsEngines(*asked));
  EXPECT_FALSE(truncationBeside(*without.value(), {}).value());
  ReadBack unknown{.compiler = {.name = "other", .version = "1", .environment = ""}};
  unknown.compiler.options[kEnginesFor] = "no-such-target";
  const auto made = readBackPlan(asked, unknown);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(truncationBeside(*made.value(), {}).value());
}

TEST(TruncationDiff, ATargetThatHasTheTypeSaysSo) {
  const auto made = engineOfDoubles(true);
  const auto ours = testing::planned(made->requested->model, testing::cpuOptions());
  const TruncationDiff diff = compareTruncation(*ours, *made);
  const WideValue& d = valueOf(diff, "d");
  EXPECT_EQ(d.a.fate, WideFate::StaysWide);
  EXPECT_EQ(d.a.why, "cpu supports the type");
  EXPECT_EQ(d.b.fate, WideFate::CastInFront);
}

TEST(TruncationDiff, ItsJsonIsDescribed) {
  const Json json = toJson(besideOurs(*engineOfDoubles(true), {parseTruncate("double").value()}));
  const std::string document = readTextFile(std::string(FUSESCOPE_SOURCE_DIR) + "/core/diff/FORMAT.md").value();
  EXPECT_EQ(json["values"][0]["type"], "f64");
  for (const auto& [key, value] : json["values"][0]["a"].items())
    EXPECT_NE(document.find(key), std::string::npos) << key;
  for (const auto& [key, value] : json["values"][0].items()) EXPECT_NE(document.find(key), std::string::npos) << key;
  for (int fate = 0; fate <= static_cast<int>(WideFate::NotReported); ++fate)
    EXPECT_NE(document.find("`" + std::string(name(static_cast<WideFate>(fate))) + "`"), std::string::npos) << fate;
}

}  // namespace
}  // namespace fusescope::test
