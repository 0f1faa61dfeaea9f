#include "session/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/process_memory.h"
#include "base/text.h"

namespace fusescope::cli {
namespace {

/// So many edges are printed for people, those that lose most at their ends first; --all and --json have all.
constexpr std::size_t kMostRows = 20;

struct Arguments {
  std::string path, output, method = "mse", weightMethod = "mse";
  double percentile = RangeChoice().percentile;
  double smoothing = 0;
  bool perTensor = false, perChannel = false, symmetric = false, keepBiases = false, all = false, json = false;
  std::vector<std::string> exclude;
  PlanArguments plan;
  InputArguments inputs;
  EngineArguments engine;
};

void printForPeople(const Ranges& ranges, const Arguments& arguments, const Samples& samples) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [value, edge] : ranges.edges) order.emplace_back(-clampedShare(edge), value);
  std::ranges::stable_sort(order, {}, &std::pair<double, std::string>::first);
  const std::size_t rows = arguments.all ? order.size() : std::min(order.size(), kMostRows);
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

Result<int> calibrate(const Arguments& arguments, const Artifact& artifact) {
  TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  const auto samples = TRY(arguments.inputs.samples(artifact));
  CalibrateOptions options{.settings = {.choice = {.method = *rangeMethodFromName(arguments.method),
                                                   .percentile = arguments.percentile,
                                                   .symmetric = arguments.symmetric},
                                        .weightMethod = *rangeMethodFromName(arguments.weightMethod),
                                        .perChannel = !arguments.perTensor,
                                        .correctBiases = !arguments.keepBiases,
                                        .smoothing = arguments.smoothing,
                                        .exclude = arguments.exclude},
                           .threads = arguments.engine.threads,
                           .progress = progressLine()};
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

Result<int> calibrate(const Arguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  return underAssumedExtents(calibrate(arguments, artifact), *artifact.plan,
                             !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command calibrateCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("calibrate", "ranges of a network's values, for int8");
  auto arguments = std::make_shared<Arguments>();
  const std::vector<std::string> methods{"minmax", "entropy", "percentile", "mse"};
  declareModel(*verb, arguments->path, arguments->plan, "a model", "MODEL");
  arguments->inputs.declare(*verb);
  verb->add_option("-o,--output", arguments->output, "the file of ranges to write")
      ->type_name("RANGES.json")
      ->required();
  verb->add_option("--method", arguments->method, "how ranges of edges are chosen")
      ->check(CLI::IsMember(methods))
      ->type_name("minmax|entropy|percentile|mse")
      ->capture_default_str();
  verb->add_option("--percentile", arguments->percentile, "with percentile: so many of a hundred numbers are within")
      ->check(between(50, 100))
      ->type_name("P")
      ->capture_default_str();
  verb->add_option("--weights", arguments->weightMethod, "how ranges of weights are chosen")
      ->check(CLI::IsMember({"minmax", "percentile", "mse"}))
      ->type_name("minmax|percentile|mse")
      ->capture_default_str();
  auto* perChannel =
      verb->add_flag("--per-channel", arguments->perChannel, "a range for each channel of weights (the default)");
  verb->add_flag("--per-tensor", arguments->perTensor, "one range for all of a weight")->excludes(perChannel);
  verb->add_flag("--symmetric", arguments->symmetric,
                 "signed codes without zero points, as TensorRT wants them; else unsigned ones of the whole range");
  verb->add_flag("--keep-biases", arguments->keepBiases,
                 "do not take what rounded weights do to the mean of each channel out of the bias");
  verb->add_option("--smooth", arguments->smoothing,
                   "move large channels of activations into the weights behind them, so far: 0 to 1")
      ->check(between(0, 1))
      ->type_name("SHARE")
      ->capture_default_str();
  repeatable(*verb, "--exclude", arguments->exclude, "nodes that stay floats")->type_name("PATTERN");
  verb->add_flag("--all", arguments->all, "print every edge");
  verb->add_flag("--json", arguments->json, "print JSON");
  arguments->engine.declare(*verb);
  arguments->plan.declare(*verb);
  return {verb, [arguments] { return calibrate(*arguments); }};
}

}  // namespace fusescope::cli
