// Says for each operator case whether a target takes its network: nothing is run.
//   target_verdicts --cases FOLDER --target NAME [--filter GLOB] [-o VERDICTS.json]
// VERDICTS.json: {"target", "cases": {CASE: {"taken", "op", "node", "code", "said"}}}, the last four where it is refused.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "planning/structure.h"
#include "tests/conformance/case_files.h"

namespace fusescope::conformance {
namespace {

Json refusal(const std::string& code, const std::string& said) {
  return {{"taken", false}, {"op", ""}, {"node", ""}, {"code", code}, {"said", said}};
}

/// f64 is narrowed to f32, as TensorRT's parser does by itself.
Result<std::shared_ptr<const Plan>> planOf(const Case& given, const std::string& target) {
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(given.folder / "model.onnx")))));
  const Directive narrowed{.kind = DirectiveKind::Truncate, .truncate = TruncateMode::Double};
  return makePlan(std::move(model), {.target = target, .directives = {narrowed}});
}

/// The first node that the target refuses, in the order of the network. Extents that the network leaves open stay so.
Json verdictOf(const Case& given, const std::string& target) {
  const auto plan = planOf(given, target);
  if (!plan.ok()) return refusal("no_plan", plan.error().message);
  const Graph& graph = plan.value()->graph();
  const std::vector<Decision>& decisions = plan.value()->structure->decisions;  // a verdict a node stands first
  for (std::size_t i = 0; i < graph.order().size(); ++i) {
    const Decision& why = decisions[i];
    if (why.allowed) continue;
    const Node& node = graph.node(graph.order()[i]);
    return {{"taken", false}, {"op", node.op}, {"node", node.name}, {"code", why.code}, {"said", message(why)}};
  }
  return {{"taken", true}};
}

int run(const std::string& folder, const std::string& filter, const std::string& target, const std::string& output) {
  const auto cases = readCases(folder, filter);
  if (!cases.ok()) {
    fmt::print(stderr, "{}\n", cases.error().text());
    return 1;
  }
  Json verdicts = {{"target", target}, {"cases", Json::object()}};
  for (const Case& given : cases.value()) verdicts["cases"][given.name] = verdictOf(given, target);
  std::ofstream file;
  if (!output.empty()) file.open(output);
  std::ostream& stream = output.empty() ? std::cout : file;
  stream << verdicts.dump(1) << '\n';
  return stream.flush() ? 0 : 1;
}

}  // namespace
}  // namespace fusescope::conformance

int main(int argc, char** argv) {
  std::string cases, filter = "*", target, output;
  CLI::App app("Says which operator cases a target takes");
  app.add_option("--cases", cases, "Folder that generate.py wrote")->envname("FUSESCOPE_CONFORMANCE")->required();
  app.add_option("--target", target, "As plan --target takes it")->required();
  app.add_option("--filter", filter, "Only cases whose name matches this glob");
  app.add_option("-o", output, "File to write; without it standard output");
  CLI11_PARSE(app, argc, argv);
  return fusescope::conformance::run(cases, filter, target, output);
}
