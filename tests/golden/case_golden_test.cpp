#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "planning/plan_json.h"
#include "tests/golden/golden_case.h"

// One file per case, tests/golden/cases/NAME.txt: a network as text (ir/FORMAT.md), how to plan it, and the plan.
//
//   # plan cpu:avx2 --precision f16 --pin a=f32     target, then --precision and options of directives
//   # same-plan LABEL       the plans of all cases of a label have the same kernels
//   # refused fuse.CODE     refusals of this code are part of what is expected
//   graph "…" { … }
//   ---
//   the plan as printPlan() writes it, then a line for each refusal; UPDATE_GOLDEN=1 writes all below --- anew

namespace fusescope::test {
namespace {

const std::string kFolder = "cases";

struct GoldenCase {
  std::string name;
  GoldenText text;
  PlanOptions options;
  std::string label;
  std::vector<std::string> refusals;  ///< codes
};

void readHeadLine(const std::string& line, GoldenCase& golden) {
  const std::vector<std::string> all = words(line.substr(1));
  ASSERT_GE(all.size(), 2U) << line;
  if (all[0] == "same-plan") {
    golden.label = all[1];
  } else if (all[0] == "refused") {
    golden.refusals.assign(all.begin() + 1, all.end());
  } else {
    ASSERT_EQ(all[0], "plan") << line;
    golden.options = readOptions({all.begin() + 1, all.end()});
  }
}

GoldenCase readCase(const std::string& name) {
  GoldenCase golden{.name = name, .text = readGolden(kFolder, name)};
  std::istringstream lines(golden.text.head);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#")) readHeadLine(line, golden);
  return golden;
}

Result<std::shared_ptr<const Plan>> planOf(const GoldenCase& golden) {
  auto plan =
      TRY(makePlan(std::make_shared<const Model>(TRY(modelOfText(golden.name, golden.text.head))), golden.options));
  TRY(verifyPlan(*plan));
  return plan;
}

std::string answers(const GoldenCase& golden, const Plan& plan) {
  std::string text;
  for (const Decision& decision : plan.decisions)
    if (std::ranges::find(golden.refusals, decision.code) != golden.refusals.end())
      text += "refused " + decision.subjects.front().text() + ": " + message(decision) + "\n";
  return printPlan(plan) + text;
}

/// What has to be alike where two spellings give the same plan: kernels and types, but not names.
std::string kernels(const Plan& plan) {
  std::string text;
  for (const FusedNode& fused : plan.fusedNodes) {
    text += fused.kind + " " + std::string(name(fused.compute)) + " reads " + std::to_string(fused.inputs.size());
    for (const FusedOutput& output : fused.outputs) text += " -> " + std::string(name(output.type));
    text += "\n";
  }
  return text + std::to_string(plan.casts.size()) + " casts\n";
}

class CaseGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(CaseGolden, IsAsWritten) {
  const GoldenCase golden = readCase(GetParam());
  const auto plan = planOf(golden);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  expectGolden(kFolder, golden.name, golden.text, answers(golden, *plan.value()));
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseGolden, ::testing::ValuesIn(goldenNames(kFolder)),
                         [](const auto& info) { return info.param; });

TEST(CaseGolden, OneLabelMeansOnePlan) {
  std::map<std::string, std::pair<std::string, std::string>> first;  // label: name and kernels
  int compared = 0;
  for (const std::string& name : goldenNames(kFolder)) {
    const GoldenCase golden = readCase(name);
    if (golden.label.empty()) continue;
    const auto plan = planOf(golden);
    ASSERT_TRUE(plan.ok()) << name << ": " << plan.error().text();
    const auto [known, added] = first.try_emplace(golden.label, name, kernels(*plan.value()));
    if (added) continue;
    ++compared;
    EXPECT_EQ(kernels(*plan.value()), known->second.second) << name << " against " << known->second.first;
  }
  EXPECT_GE(compared, 20) << "cases are gone";
}

}  // namespace
}  // namespace fusescope::test
