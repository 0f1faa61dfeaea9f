#include "session/refit_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calibration/products.h"
#include "calibration/ranges.h"
#include "calibration/weight_codes.h"
#include "ir/graph.h"
#include "planning/quantized_model.h"

namespace fusescope {
namespace {

/// Codes range from -127 to 127. A number that is less than half a step beyond is rounded to the last code.
constexpr double kHalfStepBeyond = 1 + 0.5 / 127;
constexpr double kLoose = 0.5;

/// Compares the ranges of one weight with those that its present numbers need.
struct Fit {
  std::int64_t beyond = 0, loose = 0, all = 0;  ///< numbers of channels
  double worst = 0;  ///< the largest ratio of needed to recorded range among the channels beyond; 0 if all of these
                     ///< were recorded as 0
};

Fit fitOf(const WeightRange& recorded, const WeightRange& asked) {
  Fit fit{.all = std::ssize(recorded.largest)};
  for (std::size_t i = 0; i < recorded.largest.size(); ++i) {
    const double was = recorded.largest[i], now = asked.largest[i];
    if (was <= 0 && now <= 0) continue;
    const bool isBeyond = now > was * kHalfStepBeyond;
    fit.beyond += isBeyond ? 1 : 0;
    fit.loose += now < was * kLoose ? 1 : 0;
    if (isBeyond && was > 0) fit.worst = std::max(fit.worst, now / was);
  }
  return fit;
}

/// Returns whether `product`, of the network before quantisation, reads its weights as codes in `plan`.
bool readsCodes(const Plan& plan, const Product& product) {
  const Graph& graph = plan.graph();
  if (!graph.has(product.node)) return false;
  const std::vector<ValueId>& inputs = graph.node(product.node).inputs;
  // If only weights are quantised, their codes are made from their own numbers and not from the recorded range.
  return std::ranges::find(inputs, product.weights) == inputs.end() &&
         std::ranges::find(inputs, product.source) == inputs.end();
}

void addFit(const Subject& weights, const Fit& fit, std::vector<Decision>& decisions) {
  if (fit.beyond > 0) {
    const std::string need =
        fit.worst > 0 ? fmt::format(", which need up to {} times as much", std::ceil(fit.worst * 100) / 100) : "";
    decisions.push_back(decide("quantize.range_outgrown", {weights}, "refit",
                               {{"channels", fit.beyond}, {"all", fit.all}, {"need", need}}));
  }
  if (fit.loose > 0)
    decisions.push_back(
        decide("quantize.range_loose", {weights}, "refit", {{"channels", fit.loose}, {"all", fit.all}}));
}

Status addOf(const Plan& plan, const BodyPath& path, std::vector<Decision>& decisions, const StopToken& stop) {
  const Ranges& ranges = *plan.options.ranges;
  const auto model = TRY(modelBeforeCodes(plan, stop));
  const Graph& graph = *model->graph;
  std::set<ValueId> seen;
  for (const NodeId id : graph.order()) {
    TRY(checkStop(stop));
    if (!multiplies(graph.node(id))) continue;
    const auto product = productOf(graph, graph.node(id));
    const auto* found = std::get_if<Product>(&product);
    if (found == nullptr || !readsCodes(plan, *found) || !seen.insert(found->weights).second) continue;
    const std::string& name = graph.value(found->weights).name;
    const auto recorded = ranges.weights.find(name);
    const Tensor* weights = graph.constantData(found->weights);
    if (recorded == ranges.weights.end() || weights == nullptr) continue;
    const WeightRange asked = weightRangeOf(*weights, recorded->second.axis, {.method = ranges.settings.weightMethod});
    if (asked.largest.size() != recorded->second.largest.size()) continue;  // planning refused it
    addFit(Subject::value(NetworkPlace{path, name}), fitOf(recorded->second, asked), decisions);
  }
  for (const CoverBody& body : plan.bodies) {
    const Plan& planned = plannedBody(body);
    if (planned.options.ranges == nullptr) continue;
    TRY(addOf(planned, path.into(plan.graph().node(body.holder).name, body.attribute), decisions, stop));
  }
  return Done{};
}

}  // namespace

Result<std::vector<Decision>> rangesAgainstWeights(const Plan& plan, const StopToken& stop) {
  std::vector<Decision> decisions;
  if (plan.options.ranges == nullptr) return decisions;
  TRY(addOf(plan, {}, decisions, stop));
  decisions.push_back(
      decide("quantize.range_unchecked", {}, "refit", {{"edges", std::ssize(plan.options.ranges->edges)}}));
  return decisions;
}

}  // namespace fusescope
