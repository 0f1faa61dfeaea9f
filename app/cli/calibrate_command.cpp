#include "session/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "session/operations/calibrate_operation.h"

namespace fusescope::cli {
namespace {

/// The number of edges that are printed for people; those that lose most at their ends come first. --all and --json
/// list all edges.
constexpr std::size_t kMostEdges = 20;

using CalibrateArguments = ArgumentsOf<CalibrateSettings>;

void printForPeople(const Ranges& ranges, const CalibrateArguments& arguments, const Samples& samples) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [value, edge] : ranges.edges) order.emplace_back(-clampedShare(edge), value);
  std::ranges::stable_sort(order, {}, &std::pair<double, std::string>::first);
  const std::size_t rows = arguments.all ? order.size() : std::min(order.size(), kMostEdges);
  printTitle("Ranges of edges, those that are clamped most first");
  Table table({{"value"}, {"least", true}, {"most", true}, {"low", true}, {"high", true}, {"clamped", true}});
  for (std::size_t i = 0; i < rows; ++i) {
    const EdgeRange& edge = ranges.edges.find(order[i].second)->second;
    table.add({shortened(order[i].second, 48), fmt::format("{:.4g}", edge.histogram->least()),
               fmt::format("{:.4g}", edge.histogram->most()), fmt::format("{:.4g}", edge.range.low),
               fmt::format("{:.4g}", edge.range.high), fmt::format("{:.3g} %", -100 * order[i].first)});
  }
  table.print();
  if (rows < order.size()) std::cout << fmt::format("{} more: --all prints them\n", order.size() - rows);
  std::cout << fmt::format("{} and {} by {} and {}, of {}: {}\n", counted(std::ssize(ranges.edges), "edge"),
                           counted(std::ssize(ranges.weights), "weight"), name(ranges.settings.choice.method),
                           name(ranges.settings.weightMethod), counted(ranges.samples, "sample"), arguments.output);
  printAboutInputs(samples);
  if (const auto memory = processMemory())
    std::cout << fmt::format("{} of memory at the most\n", bytesText(memory->peakResident));
}

Result<int> calibrate(const CalibrateArguments& arguments, const Artifact& artifact) {
  TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  const auto samples = TRY(arguments.inputs.samples(artifact));
  CalibrateOptions options{
      .settings = arguments.calibration, .threads = arguments.engine.threads, .progress = progressLine()};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  const Ranges ranges = TRY(calibrate(*artifact.plan, samples, options));
  TRY(writeFileAtomically(arguments.output, rangesText(ranges)));
  clearProgressLine();
  if (arguments.json) {
    printJson(calibrationJson(ranges, arguments.output));
  } else {
    printForPeople(ranges, arguments, samples);
  }
  return kDone;
}

Result<int> calibrate(const CalibrateArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  return underAssumedExtents(calibrate(arguments, artifact), *artifact.plan,
                             !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command calibrateCommand(CLI::App& app) {
  return commandOf<CalibrateSettings>(app, calibrateOperation(), calibrate);
}

}  // namespace fusescope::cli
