// Says for each operator case whether a target takes its network, or holds that against what a compiler made of it.
// Nothing is run.
//   target_verdicts --target NAME [-o VERDICTS.json] [--filter GLOB]
//   target_verdicts --recorded FILE                what record.py wrote: fails where a verdict is another than is
//   listed
// VERDICTS.json: {"target", "cases": {CASE: {"taken", "op", "node", "code", "said"}}}, the last four where it is
// refused.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "base/json.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "planning/structure.h"
#include "tests/conformance/agreement/recorded.h"
#include "tests/conformance/case_files.h"

namespace fusescope::conformance {
namespace {

constexpr int kSkipped = 77;  ///< what ctest takes for "not run"

struct Options {
  std::string cases, filter = "*", target, output, recorded;
};

/// What a target says of a network: of the first node that it refuses, in the order of the network.
struct CaseVerdict {
  bool taken = false;
  std::string op, node, code, said;
};

Json toJson(const CaseVerdict& verdict) {
  if (verdict.taken) return {{"taken", true}};
  return {{"taken", false}, {"op", verdict.op}, {"node", verdict.node}, {"code", verdict.code}, {"said", verdict.said}};
}

/// f64 is narrowed to f32, as TensorRT's parser does by itself. Extents that the network leaves open stay so.
Result<std::shared_ptr<const Plan>> planOf(const Case& given, const std::string& target) {
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(given.folder / "model.onnx")))));
  const Directive narrowed{.kind = DirectiveKind::Truncate, .truncate = TruncateMode::Double};
  return makePlan(std::move(model), {.target = target, .directives = {narrowed}});
}

CaseVerdict verdictOf(const Case& given, const std::string& target) {
  const auto plan = planOf(given, target);
  if (!plan.ok()) return {.code = "no_plan", .said = plan.error().message};
  const Graph& graph = plan.value()->graph();
  const std::vector<Decision>& decisions = plan.value()->structure->decisions;  // a verdict a node stands first
  for (std::size_t i = 0; i < graph.order().size(); ++i) {
    if (decisions[i].allowed) continue;
    const Node& node = graph.node(graph.order()[i]);
    return {.op = node.op, .node = node.name, .code = decisions[i].code, .said = message(decisions[i])};
  }
  return {.taken = true};
}

int printVerdicts(const std::vector<Case>& cases, const Options& options) {
  Json verdicts = {{"target", options.target}, {"cases", Json::object()}};
  for (const Case& given : cases) verdicts["cases"][given.name] = toJson(verdictOf(given, options.target));
  std::ofstream file;
  if (!options.output.empty()) file.open(options.output);
  std::ostream& stream = options.output.empty() ? std::cout : file;
  stream << verdicts.dump(1) << '\n';
  return stream.flush() ? 0 : 1;
}

int holdAgainst(const Recorded& recorded, const std::vector<Case>& cases) {
  int surprises = 0, onlyWe = 0, onlyThey = 0;
  for (const Case& given : cases) {
    const CaseVerdict ours = verdictOf(given, recorded.target);
    const bool theirs = recorded.taken.contains(given.name), listed = recorded.differs.contains(given.name);
    const bool differs = ours.taken != theirs;
    if (differs) ++(ours.taken ? onlyWe : onlyThey);
    if (differs == listed) continue;
    ++surprises;
    if (listed)
      fmt::print("LISTED BUT AGREES {}  ({})\n", given.name, recorded.differs.at(given.name));
    else
      fmt::print("DIFFERS UNLISTED {}  {}\n", given.name,
                 ours.taken ? "we take it" : "it is taken there; here: " + ours.said);
  }
  if (cases.size() != recorded.cases) {
    fmt::print("there are {} cases, the list is about {}\n", cases.size(), recorded.cases);
    ++surprises;
  }
  const auto agreed = static_cast<double>(cases.size()) - onlyWe - onlyThey;
  fmt::print("suite: {} and {}: {:.1f} % of {} cases agree; {} only we take, {} only they; {} unlike the list\n",
             recorded.target, recorded.compiler, 100 * agreed / static_cast<double>(cases.size()), cases.size(), onlyWe,
             onlyThey, surprises);
  return surprises == 0 ? 0 : 1;
}

int failed(const Diagnostic& error) {
  fmt::print(stderr, "{}\n", error.text());
  return 1;
}

int run(const Options& options) {
  if (options.cases.empty()) {
    fmt::print("skipped: FUSESCOPE_CONFORMANCE names no folder of operator cases (scripts/test makes one)\n");
    return kSkipped;
  }
  const auto cases = readCases(options.cases, options.filter);
  if (!cases.ok()) return failed(cases.error());
  if (options.recorded.empty()) return printVerdicts(cases.value(), options);
  const auto recorded = Recorded::read(options.recorded);
  return recorded.ok() ? holdAgainst(recorded.value(), cases.value()) : failed(recorded.error());
}

}  // namespace
}  // namespace fusescope::conformance

int main(int argc, char** argv) {
  fusescope::conformance::Options options;
  CLI::App app("Says which operator cases a target takes");
  app.add_option("--cases", options.cases, "Folder that generate.py wrote")->envname("FUSESCOPE_CONFORMANCE");
  auto* recorded = app.add_option("--recorded", options.recorded, "What a compiler made of the cases");
  app.add_option("--target", options.target, "As plan --target takes it")->excludes(recorded);
  app.add_option("--filter", options.filter, "Only cases whose name matches this glob")->excludes(recorded);
  app.add_option("-o", options.output, "File to write; without it standard output")->excludes(recorded);
  CLI11_PARSE(app, argc, argv);
  return fusescope::conformance::run(options);
}
