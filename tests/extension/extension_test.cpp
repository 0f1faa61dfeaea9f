// A fusion rule with a kind and a kernel of its own, a kind of directive, a restriction, an operator with a native
// kernel and an export format with an option of its own, added by files and lines of lists (see CMakeLists.txt): every
// part of the program that knows the others knows them, and few files are touched.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "app/cli/command.h"
#include "base/files.h"
#include "engine/engine.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"
#include "planning/steps.h"
#include "session/operations/export_operation.h"
#include "target/target_table.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> linesOf(const std::string& path) {
  std::istringstream text(readTextFile(path).value());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// A list of the product, its copy with the lines of what is added here, and the number of these lines.
struct AddedTo {
  std::string name, list, copy;
  std::size_t lines = 1;
};

std::vector<AddedTo> addedTo() {
  const std::string core = FUSESCOPE_SOURCE_DIR "/core/", copies = FUSESCOPE_LISTS "/";
  std::vector<AddedTo> lists;
  for (const char* name :
       {"planning/fusion/rules.inc", "planning/fused_node_kinds.inc", "planning/directives/kinds.inc",
        "target/restrictions.inc", "ops/families.inc", "interchange/exporters.inc"})
    lists.push_back({name, core + name, copies + name});
  lists.push_back({"kernels.inc", core + "backends/native/lowering/kernels.inc",
                   copies + "backends/native/lowering/kernels.inc", 2});
  lists.push_back({"cpu.json", FUSESCOPE_SOURCE_DIR "/resources/targets/cpu.json", copies + "cpu.json"});
  return lists;
}

/// Returns the lines that a copy has and the product's list has not.
std::vector<std::string> addedLines(const AddedTo& to) {
  const auto before = linesOf(to.list), after = linesOf(to.copy);
  std::vector<std::string> added;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::size_t at = i - added.size();
    if (at >= before.size() || after[i] != before[at]) added.push_back(after[i]);
  }
  EXPECT_EQ(after.size(), before.size() + added.size()) << to.name << " is not the product's";
  return added;
}

/// Returns the files that adding `name` takes: those of its own, and the lists in which it has a line.
std::set<std::string> filesOf(const std::string& name) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(FUSESCOPE_SOURCE_DIR "/tests/extension")) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("added_") && readTextFile(entry.path().string()).value().find(name) != std::string::npos)
      files.insert(file);
  }
  for (const AddedTo& to : addedTo())
    for (const std::string& line : addedLines(to))
      if (line.find(name) != std::string::npos) files.insert(to.name);
  return files;
}

TEST(Adding, TakesOneLineOfAList) {
  for (const AddedTo& to : addedTo()) EXPECT_EQ(addedLines(to).size(), to.lines) << to.name;
}

TEST(Adding, TouchesFewFiles) {
  // An operator is a row or function of its family's file, which added_operator.cpp stands for; only a new family has
  // a line of its own in families.inc.
  std::set<std::string> ofOperator = filesOf("Halve");
  EXPECT_EQ(ofOperator.erase("ops/families.inc"), 1U);
  EXPECT_EQ(ofOperator, (std::set<std::string>{"added_operator.cpp", "added_kernel.cpp", "kernels.inc", "cpu.json"}));
  EXPECT_LE(ofOperator.size(), 4U) << "an operator with a native kernel";
  const std::set<std::string> ofKind = filesOf("Siblings");
  EXPECT_EQ(ofKind, (std::set<std::string>{"added_rule.cpp", "planning/fusion/rules.inc",
                                           "planning/fused_node_kinds.inc", "added_emitter.cpp", "kernels.inc"}));
  EXPECT_LE(ofKind.size(), 5U) << "a kind of fused nodes with a kernel of its own";
  EXPECT_LE(filesOf("Counts").size(), 2U) << "an export format with an option of its own";
}

std::shared_ptr<const Model> modelOf(const char* graph) {
  Model model;
  auto parsed = parseGraph(graph);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().text());
  model.graph = parsed.value();
  for (const NodeId id : model.graph->order()) model.origins.push_back({model.graph->node(id).name, "", ""});
  model.contentHash = hashText(graph);
  return std::make_shared<const Model>(std::move(model));
}

/// x ─┬─ a
///    └─ b
std::shared_ptr<const Model> siblings() {
  return modelOf(R"(graph "g" {
    input %x: f32[2, 4]
    %p: f32[2, 4] = Relu(%x) {name="a", origins=[0]}
    %q: f32[2, 4] = Neg(%x) {name="b", origins=[1]}
    output %p
    output %q
  })");
}

std::shared_ptr<const Model> chain() {
  return modelOf(R"(graph "g" {
    input %x: f32[2, 4]
    %p: f32[2, 4] = Relu(%x) {name="a", origins=[0]}
    %q: f32[2, 4] = Neg(%p) {name="b", origins=[1]}
    %r: f32[2, 4] = Exp(%q) {name="c", origins=[2]}
    output %r
  })");
}

std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, Directives directives = {}) {
  assignIds(directives);
  auto plan = makePlan(model, {.target = "cpu:avx2", .directives = std::move(directives)});
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
  if (!plan.ok()) return nullptr;
  const Status verified = verifyPlan(*plan.value());
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : verified.error().text());
  return plan.value();
}

/// "a b | c": the nodes of each kernel.
std::string kernels(const Plan& plan) {
  std::string text;
  for (const FusedNode& fused : plan.fusedNodes) {
    text += text.empty() ? "" : " |";
    for (const NodeId id : fused.nodes) text += " " + plan.graph().node(id).name;
  }
  return text.empty() ? text : text.substr(1);
}

const Decision* decisionBy(const Plan& plan, std::string_view code, std::string_view by) {
  const auto found = std::ranges::find_if(
      plan.decisions, [&](const Decision& decision) { return decision.code == code && decision.by.text() == by; });
  return found == plan.decisions.end() ? nullptr : &*found;
}

std::map<std::string, Tensor> outputsOf(const std::shared_ptr<const Plan>& plan, const Tensor& x) {
  auto engine = buildEngine(plan, {.backend = "native", .threads = 1, .measureTactics = false});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().text());
  auto result = engine.value()->run({{"x", x}});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.value().outputs;
}

Tensor numbers() {
  constexpr std::array<float, 8> kNumbers{-3, -2, -1, 0, 1, 2, 3, 4};
  return Tensor::copyOf(DataType::F32, {2, 4}, std::span<const float>(kNumbers));
}

TEST(Adding, ARuleMakesKernelsThatRunAndCanBeSwitchedOff) {
  EXPECT_EQ(fusionRules().back()->name, "siblings");
  const auto plan = planOf(siblings());
  EXPECT_EQ(kernels(*plan), "a b");
  EXPECT_EQ(plan->fusedNodes[0].kind, "siblings");
  EXPECT_EQ(kindFamily("siblings"), "pointwise");
  EXPECT_NE(decisionBy(*plan, "fuse.merged", "fuse_siblings"), nullptr);
  const auto outputs = outputsOf(plan, numbers());
  EXPECT_EQ(outputs.at("p").data<float>()[7], 4);
  EXPECT_EQ(outputs.at("q").data<float>()[0], 3);

  const auto off = planOf(siblings(), {parseNoFuse("siblings@b").value()});
  EXPECT_EQ(kernels(*off), "a | b");
  EXPECT_NE(decisionBy(*off, "fuse.no_fuse", "no_fuse:1"), nullptr);
}

TEST(Adding, AnEmitterRunsTheNodesThatItClaimsAndNamesTheTactic) {
  auto engine = buildEngine(planOf(siblings()), {.backend = "native", .threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const std::vector<TacticChoice>& tactics = engine.value()->report().tactics;
  ASSERT_EQ(tactics.size(), 1U);
  EXPECT_EQ(tactics[0].chosen, "native:siblings");
  const auto result = engine.value()->run({{"x", numbers()}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value().outputs.at("p").data<float>()[7], 4);
  EXPECT_EQ(result.value().outputs.at("p").data<float>()[0], 0);
  EXPECT_EQ(result.value().outputs.at("q").data<float>()[0], 3);
}

TEST(Adding, ADirectiveIsReadFromTheCommandLineAndFilesAndHolds) {
  cli::PlanArguments arguments;
  CLI::App app;
  cli::declare(app, arguments.planOptions());
  app.parse("--alone b --split a");
  const auto options = arguments.options();
  ASSERT_TRUE(options.ok()) << options.error().text();
  ASSERT_EQ(options.value().directives.size(), 2U);
  const Directive& directive = options.value().directives.back();
  EXPECT_EQ(causeOf(directive).text(), "alone:2");
  EXPECT_EQ(optionText(directive), "--alone b");
  EXPECT_EQ(inWords(directive), "run b alone");
  EXPECT_NE(app.help().find("nothing runs in one kernel with this node"), std::string::npos);

  const Directives list{directive};
  EXPECT_EQ(toJson(list)["directives"][0]["kind"], "alone");
  EXPECT_EQ(directivesFromJson(toJson(list)).value(), list);

  EXPECT_EQ(kernels(*planOf(chain())), "a b c");
  const auto plan = planOf(chain(), list);
  EXPECT_EQ(kernels(*plan), "a | b | c");
  EXPECT_NE(decisionBy(*plan, "fuse.split_honoured", "alone:2"), nullptr);
  const auto helps = wouldHelp(*plan, *plan->graph().findNode("c"));
  ASSERT_EQ(helps.size(), 1U);
  EXPECT_EQ(helps[0].change, "without --alone b");
  EXPECT_FALSE(makePlan(chain(), {.target = "cpu:avx2", .directives = {{.kind = directive.kind, .pattern = "z"}}}).ok())
      << "its patterns are checked as all are";
}

constexpr const char* kHalved = R"(graph "g" {
    input %x: f32[2, 4]
    %y: f32[2, 4] = Halve(%x) {name="half", origins=[0]}
    output %y
  })";

TEST(Adding, AnOperatorIsPlannedAndRunByItsKernel) {
  const auto plan = planOf(modelOf(kHalved));
  EXPECT_FALSE(plan->inFallback(plan->fusedNodes[0])) << "its row in the CPU's table says that a kernel runs it";
  auto engine = buildEngine(plan, {.backend = "native", .threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ(engine.value()->report().tactics.at(0).chosen, "native:halve");
  EXPECT_EQ(outputsOf(plan, numbers()).at("y").data<float>()[7], 2);
}

/// A target that takes Halve where its extents are even.
Target toyTarget() {
  const auto table = parseTargetTable(
      R"({"format": "fusescope.target", "version": 1, "name": "toy", "summary": "a toy",
    "backend": "native", "planning_only": true, "strongly_typed": false, "predicted_fusions": false, "bodies": "whole",
    "unlisted": "not_supported", "operators_of": "1", "sources": {"here": "this test"},
    "types": [{"type": "f32", "source": "here"}], "truncate": {}, "compute_types": ["f32"], "runs": ["f32"],
    "operators": [
      {"op": "Halve", "types": ["f32"], "restrictions": [{"function": "evenExtents"}], "source": "here"}]})",
      "toy.json");
  EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().text());
  return Target::fromTable(std::make_shared<const TargetTable>(table.value()));
}

TEST(Adding, AValidatorIsARowAndWhatNoRowSaysAFunction) {
  const Target target = toyTarget();
  const auto verdictOn = [&](const std::string& extents) {
    std::string text = kHalved;
    for (std::size_t at = text.find("2, 4"); at != std::string::npos; at = text.find("2, 4", at + 1))
      text.replace(at, 4, extents);
    const auto graph = parseGraph(text).value();
    DirectiveMap directives;
    directives.fallback.assign(graph->nodeIdLimit(), -1);
    const auto verdicts = validateNodes(*graph, target, directives,
                                        planTruncation(*graph, target, TruncateModes::both(TruncateMode::None)));
    return verdicts.at(0).why;
  };
  EXPECT_TRUE(verdictOn("2, 4").allowed);
  const Decision odd = verdictOn("2, 5");
  EXPECT_FALSE(odd.allowed);
  EXPECT_NE(message(odd).find("all extents are even"), std::string::npos) << message(odd);
}

TEST(Adding, AnExportFormatHasAnOptionOfItsOwnEverywhere) {
  const Exporter* counts = findExporter("counts");
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(exportRows().back()->contents, "a number") << "docs/exports.md gets its row from the file of the format";
  const auto plan = planOf(siblings());
  EXPECT_EQ(counts->write(*plan, {}).value().text, "2\n");
  EXPECT_EQ(counts->write(*plan, {.path = {}, .own = {{"count", "kernels"}}}).value().text, "1\n");
  // The command line and the worker have the option, for this format alone.
  ExportSettings settings;
  const std::vector<Option> options = settings.options();
  const Option& count = optionNamed(options, "count");
  EXPECT_EQ(count.help, "Of counts: What is counted.");
  EXPECT_EQ(count.usualInWords(), "nodes");
  EXPECT_EQ(whyNotAccepted(count, "edges"), "'edges' is none of nodes, kernels");
  const auto asked = settingsFromJson<ExportSettings>({{"to", "counts"}, {"output", "c.txt"}, {"count", "kernels"}});
  ASSERT_TRUE(asked.ok()) << asked.error().text();
  EXPECT_EQ(asked.value().own.at("count"), "kernels");
  EXPECT_EQ(commandWords(asked.value()),
            (std::vector<std::string>{"--to", "counts", "--output", "c.txt", "--count", "kernels"}));
  EXPECT_TRUE(checkOptions(*counts, {{"count", "kernels"}}).ok());
  const Status other = checkOptions(*findExporter("dot"), {{"count", "kernels"}});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().text().find("counts"), std::string::npos) << other.error().text();
}

}  // namespace
}  // namespace fusescope
