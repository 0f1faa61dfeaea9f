// Runs the operator cases of the ONNX package through Fusescope's own import, plan and engine, and holds the result
// against the list of known failures.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/conformance/case_processes.h"
#include "tests/conformance/known_failures.h"
#include "tests/conformance/conformance_table.h"

namespace fusescope::conformance {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;  ///< what ctest takes for "not run"

struct Options {
  std::string cases;
  std::string filter = "*";
  std::string known;
  bool listFailures = false;
  bool table = false;
  bool writeKnown = false;
  ProcessOptions processes;
};

/// Each backend has a list of its own; what the oracle cannot do, no other backend is asked for.
fs::path listOf(const std::string& backend) {
  const std::string file = backend == "reference" ? "known.txt" : "known_" + backend + ".txt";
  return fs::path(FUSESCOPE_SOURCE_DIR) / "tests/conformance" / file;
}

void printFailures(const std::vector<Case>& cases, const std::map<std::string, Outcome>& outcomes) {
  for (const Case& given : cases) {
    const Outcome& outcome = outcomes.at(given.name);
    if (!outcome.passed) fmt::print("FAIL {}  [{}] {}\n", given.name, outcome.problem, outcome.message);
  }
}

/// The cases at odds with the list.
int printSurprises(const std::map<std::string, Outcome>& outcomes, const KnownFailures& known) {
  int surprises = 0;
  for (const auto& [name, outcome] : outcomes) {
    const KnownFailure* listed = known.find(name);
    if (outcome.passed == (listed == nullptr)) continue;
    ++surprises;
    if (outcome.passed)
      fmt::print("LISTED BUT PASSES {}  ({})\n", name, listed->reason);
    else
      fmt::print("FAILS UNLISTED {}  [{}] {}\n", name, outcome.problem, outcome.message);
  }
  return surprises;
}

void printCounts(const std::map<std::string, Outcome>& outcomes, const Options& options, std::size_t leftOut,
                 int surprises) {
  int passed = 0;
  int native = 0;
  std::map<std::string, int> problems;
  for (const auto& [name, outcome] : outcomes) {
    if (outcome.passed) {
      ++passed;
      native += outcome.native ? 1 : 0;
    } else {
      ++problems[outcome.problem];
    }
  }
  std::string text =
      fmt::format("suite: conformance on {}: {} cases, {} passed", options.processes.backend, outcomes.size(), passed);
  if (options.processes.backend != "reference") text += fmt::format(" ({} by kernels of its own)", native);
  for (const auto& [problem, count] : problems) text += fmt::format(", {} {}", count, problem);
  if (leftOut > 0) text += fmt::format("; {} that the reference fails were left out", leftOut);
  fmt::print("{}; {} unlike the list\n", text, surprises);
}

int conclude(const std::vector<Case>& cases, const Options& options, std::size_t leftOut) {
  const fs::path list = options.known.empty() ? listOf(options.processes.backend) : fs::path(options.known);
  auto known = KnownFailures::read(list);
  if (!known.ok()) {
    fmt::print(stderr, "{}\n", known.error().text());
    return 1;
  }
  const auto outcomes = runCases(cases, options.processes);
  if (options.listFailures) printFailures(cases, outcomes);
  if (options.table) fmt::print("{}", tableText(cases, outcomes));
  if (options.writeKnown) {
    known = known.value().updated(outcomes);
    if (const auto written = known.value().write(list); !written.ok()) {
      fmt::print(stderr, "{}\n", written.error().text());
      return 1;
    }
  }
  const int surprises = printSurprises(outcomes, known.value());
  printCounts(outcomes, options, leftOut, surprises);
  return surprises == 0 ? 0 : 1;
}

/// Cases of f32 in a narrow float: nothing may fail.
int concludeNarrow(std::vector<Case> cases, const Options& options) {
  const auto floats = [](const CaseValue& value) { return value.element == "float"; };
  std::erase_if(cases, [&](const Case& given) { return std::ranges::none_of(given.inputs, floats); });
  const auto outcomes = runCases(cases, options.processes);
  int failures = 0, native = 0, kernels = 0;
  std::set<std::string> operators;
  for (const Case& given : cases) {
    const Outcome& outcome = outcomes.at(given.name);
    failures += outcome.passed ? 0 : 1;
    native += outcome.native ? 1 : 0;
    kernels += outcome.kernels;
    if (outcome.native) operators.insert(given.operatorName);
  }
  printFailures(cases, outcomes);
  fmt::print(
      "suite: conformance in {}: {} cases, {} with {} native kernels of {} operators beside the reference, {} failed\n",
      name(options.processes.narrow), cases.size(), native, kernels, operators.size(), failures);
  return failures == 0 && native > 0 ? 0 : 1;
}

int run(const Options& options) {
  if (options.cases.empty()) {
    fmt::print("skipped: FUSESCOPE_CONFORMANCE names no folder of operator cases (scripts/test makes one)\n");
    return kSkipped;
  }
  auto cases = readCases(options.cases, options.filter);
  if (!cases.ok() || cases.value().empty()) {
    fmt::print(stderr, "{}\n", cases.ok() ? "no case has such a name" : cases.error().text());
    return 1;
  }
  if (options.processes.narrow != DataType::Undefined) return concludeNarrow(std::move(cases).value(), options);
  std::size_t leftOut = 0;
  if (options.processes.backend != "reference") {
    const auto oracle = KnownFailures::read(listOf("reference"));
    if (!oracle.ok()) {
      fmt::print(stderr, "{}\n", oracle.error().text());
      return 1;
    }
    leftOut = std::erase_if(cases.value(), [&](const Case& c) { return oracle.value().find(c.name) != nullptr; });
  }
  return conclude(cases.value(), options, leftOut);
}

}  // namespace
}  // namespace fusescope::conformance

int main(int argc, char** argv) {
  fusescope::conformance::Options options;
  CLI::App app("Runs the operator cases of the ONNX package");
  app.add_option("--cases", options.cases, "Folder that generate.py wrote")->envname("FUSESCOPE_CONFORMANCE");
  app.add_option("--filter", options.filter, "Only cases whose name matches this glob");
  app.add_option("--backend", options.processes.backend, "reference or native");
  const std::map<std::string, fusescope::DataType> narrow{{"bf16", fusescope::DataType::BF16},
                                                          {"f16", fusescope::DataType::F16}};
  app.add_option("--type", options.processes.narrow, "Cases of f32 in this type: native kernels beside the reference")
      ->transform(CLI::CheckedTransformer(narrow));
  app.add_option("--known", options.known, "List of known failures, if not the backend's own");
  app.add_option("--jobs", options.processes.jobs, "Processes at a time")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.processes.secondsPerCase, "What a case may take");
  app.add_flag("--list-failures", options.listFailures, "Print every failing case with its message");
  app.add_flag("--table", options.table, "Print passed and all by domain and element type");
  app.add_flag("--write-known", options.writeKnown, "Make the list of known failures true (give no --filter)");
  CLI11_PARSE(app, argc, argv);
  if (options.writeKnown && options.filter != "*") {
    fmt::print(stderr, "--write-known needs every case: leave out --filter\n");
    return 1;
  }
  return fusescope::conformance::run(options);
}
