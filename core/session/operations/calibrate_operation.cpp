#include "session/operations/calibrate_operation.h"

#include <algorithm>
#include <iterator>

#include "session/operations/operation.h"

namespace fusescope {

namespace {

/// Lists the methods without Entropy, for which a channel has too few numbers.
ChoiceValue weightMethodChoice(RangeMethod& method) {
  constexpr RangeMethod kMethods[] = {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Mse};
  return {[&method, kMethods] {
            const auto found = std::ranges::find(kMethods, method);
            return found == std::end(kMethods) ? 0 : static_cast<std::size_t>(found - std::begin(kMethods));
          },
          [&method, kMethods](std::size_t index) { method = kMethods[index]; }};
}

}  // namespace

std::vector<Option> CalibrateSettings::options() {
  return {{.name = "output",
           .value = &output,
           .argument = "RANGES.json",
           .help = "The file of ranges to write.",
           .letter = 'o',
           .isRequired = true},
          {.name = "method",
           .value = choiceOf(calibration.choice.method),
           .help = "How the ranges of edges are chosen.",
           .choices = {"minmax", "percentile", "entropy", "mse"}},
          {.name = "percentile",
           .value = &calibration.choice.percentile,
           .argument = "P",
           .help = "The share of the numbers that is within the range, in percent, if the method is percentile.",
           .range = {.least = 50, .most = 100}},
          {.name = "weights",
           .value = weightMethodChoice(calibration.weightMethod),
           .help = "How the ranges of weights are chosen.",
           .choices = {"minmax", "percentile", "mse"}},
          {.name = "per-channel",
           .value = &calibration.perChannel,
           .help = "Use a range for each channel of weights, instead of one range for all of a weight. This is the "
                   "default."},
          {.name = "per-tensor",
           .value = NegatedFlag{&calibration.perChannel},
           .help = "Use one range for all of a weight.",
           .excludes = {"per-channel"}},
          {.name = "symmetric",
           .value = &calibration.choice.symmetric,
           .help = "Use signed codes without zero points, which TensorRT requires, instead of unsigned codes of the "
                   "whole range."},
          {.name = "correct-biases",
           .value = &calibration.correctBiases,
           .help = "Correct biases by what rounded weights do to the mean of each channel. This is the default."},
          {.name = "keep-biases",
           .value = NegatedFlag{&calibration.correctBiases},
           .help = "Do not correct biases by what rounded weights do to the mean of each channel.",
           .excludes = {"correct-biases"}},
          {.name = "smooth",
           .value = &calibration.smoothing,
           .argument = "SHARE",
           .help = "Move large channels of activations into the weights behind them by this share, from 0 to 1.",
           .range = {.least = 0, .most = 1}},
          {.name = "exclude",
           .value = &calibration.exclude,
           .argument = "PATTERN",
           .help = "Nodes that keep calculating in floats."},
          {.name = "all", .value = &all, .help = "Print every edge."}};
}

const Operation& calibrateOperation() {
  static const Operation operation{
      .name = "calibrate",
      .summary = "Find the ranges of a network's values, for int8",
      .source = {"MODEL", "A model."},
      .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Engine, OptionGroup::Plan},
      .usualOptions = copyOfUsualOptions<CalibrateSettings>,
      .prints = "fusescope.calibration",
      .writes = "--output: the ranges",
      .phases = {"calibrate", "ranges", "weights"},
      .phasesNote = "calibrate and weights name the node"};
  return operation;
}

}  // namespace fusescope
