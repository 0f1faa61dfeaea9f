#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/files.h"
#include "base/text.h"
#include "passes/pipelines.h"
#include "planning/directives/directive_form.h"
#include "planning/plan_json.h"

// One file per case, tests/golden/cases/NAME.txt: a network as text (ir/FORMAT.md), how to plan it, and the plan.
//
//   # plan cpu:avx2 --precision f16 --pin a=f32     target, then --precision and options of directives
//   # same-plan LABEL       the plans of all cases of a label have the same kernels
//   # refused fuse.CODE     refusals of this code are part of what is expected
//   graph "…" { … }
//   ---
//   the plan as printPlan() writes it, then a line for each refusal; UPDATE_GOLDEN=1 writes all below --- anew

namespace fusescope {
namespace {

struct GoldenCase {
  std::string name, head, expected;  ///< head: all above ---
  PlanOptions options;
  std::string label;
  std::vector<std::string> refusals;  ///< codes
};

std::string folder() {
  return std::string(FUSESCOPE_SOURCE_DIR) + "/tests/golden/cases/";
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

void addOption(const std::string& option, const std::string& value, PlanOptions& options) {
  if (option == "--precision") {
    const auto type = dataTypeFromName(value);
    ASSERT_TRUE(type.has_value()) << value;
    options.precisions.push_back(*type);
    return;
  }
  const auto& forms = directiveForms();
  const auto form = std::ranges::find_if(forms, [&](const DirectiveForm* each) { return each->option == option; });
  ASSERT_NE(form, forms.end()) << "no such option in a golden case: " << option;
  auto directive = (*form)->parse(value);
  ASSERT_TRUE(directive.ok()) << directive.error().text();
  options.directives.push_back(std::move(directive).value());
}

void readHeadLine(const std::string& line, GoldenCase& golden) {
  const std::vector<std::string> all = words(line.substr(1));
  ASSERT_GE(all.size(), 2U) << line;
  if (all[0] == "same-plan") {
    golden.label = all[1];
  } else if (all[0] == "refused") {
    golden.refusals.assign(all.begin() + 1, all.end());
  } else {
    ASSERT_EQ(all[0], "plan") << line;
    golden.options.target = all[1];
    ASSERT_EQ(all.size() % 2, 0U) << "an option without a value: " << line;
    for (std::size_t i = 2; i + 1 < all.size(); i += 2) addOption(all[i], all[i + 1], golden.options);
  }
}

GoldenCase readCase(const std::string& name) {
  GoldenCase golden{.name = name};
  const auto text = readTextFile(folder() + name + ".txt");
  EXPECT_TRUE(text.ok()) << name;
  if (!text.ok()) return golden;
  const std::string& all = text.value();
  const std::size_t end = all.find("\n---\n");
  golden.head = all.substr(0, end == std::string::npos ? all.size() : end + 1);
  if (end != std::string::npos) golden.expected = all.substr(end + 5);
  std::istringstream lines(golden.head);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#")) readHeadLine(line, golden);
  return golden;
}

std::vector<std::string> caseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// Each node of the text is a node of the file; open extents run from 1 to 64.
Result<Model> modelOf(const GoldenCase& golden) {
  std::string text;
  std::istringstream lines(golden.head);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#")) text += line + "\n";
  const auto graph = TRY(parseGraph(text));
  Model model;
  model.path = golden.name;
  model.contentHash = hashText(text);
  GraphEditor editor(*graph);
  for (const NodeId id : graph->order()) {
    const Node& node = graph->node(id);
    editor.mutableNode(id).origins = {OriginId(model.origins.size())};
    model.origins.push_back({node.name, node.op, node.domain});
  }
  model.graph = TRY(editor.publish());
  for (const ValueId id : model.graph->inputs()) {
    const Value& value = model.graph->value(id);
    InputSpec spec{.name = value.name, .dtype = value.type.dtype, .source = "file"};
    for (const Dim& dim : value.type.shape.dims) {
      spec.min.push_back(dim.known() ? dim.size : 1);
      spec.max.push_back(dim.known() ? dim.size : 64);
    }
    spec.opt = spec.max;
    model.inputSpecs.push_back(std::move(spec));
  }
  return prepareModel(std::move(model));
}

Result<std::shared_ptr<const Plan>> planOf(const GoldenCase& golden) {
  auto plan = TRY(makePlan(std::make_shared<const Model>(TRY(modelOf(golden))), golden.options));
  TRY(verifyPlan(*plan));
  return plan;
}

std::string answers(const GoldenCase& golden, const Plan& plan) {
  std::string text;
  for (const Decision& decision : plan.decisions)
    if (std::ranges::find(golden.refusals, decision.code) != golden.refusals.end())
      text += "refused " + decision.subjects.front().name + ": " + message(decision) + "\n";
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
  const std::string text = answers(golden, *plan.value());
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(
        writeFileAtomically(folder() + golden.name + ".txt", std::string_view(golden.head + "---\n" + text)).ok());
    GTEST_SKIP() << "written";
  }
  EXPECT_EQ(text, golden.expected);
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseGolden, ::testing::ValuesIn(caseNames()),
                         [](const auto& info) { return info.param; });

TEST(CaseGolden, OneLabelMeansOnePlan) {
  std::map<std::string, std::pair<std::string, std::string>> first;  // label: name and kernels
  int compared = 0;
  for (const std::string& name : caseNames()) {
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
}  // namespace fusescope
