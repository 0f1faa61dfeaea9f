#include "interchange/checked_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "planning/structure.h"
#include "verify/tensor_error.h"

namespace fusescope {
namespace {

Tensor inF32(const Tensor& tensor) {
  return isExchangeable(tensor.type()) ? tensor.converted(DataType::F32) : tensor;
}

double shareNotFinite(const Tensor& actual, const Tensor& expected) {
  if (!TensorErrorSums::comparable(actual, expected)) return 0;
  TensorErrorSums sums;
  sums.add(actual, expected, actual.type());
  return sums.empty() ? 0 : sums.error().nonFinite;
}

Json toJson(const OutputDifference& apart) {
  return {{"output", apart.output}, {"error", jsonNumber(apart.worst)}, {"not_finite", apart.notFinite}};
}

}  // namespace

void OutputDifference::add(std::size_t atSample, const std::string& name, const Tensor& actual, const Tensor& expected,
                           const Tolerance& tolerance) {
  const Tensor ours = inF32(actual), theirs = inF32(expected);
  const TensorComparison compared = compareTensors(name, ours, theirs, tolerance);
  ok = ok && compared.ok;
  const double by = compared.problem.empty() ? compared.maxOverRms : compared.ok ? 0 : INFINITY;
  if (!output.empty() && by <= worst) return;
  worst = by;
  output = name;
  sample = atSample;
  problem = compared.problem;
  notFinite = std::isfinite(by) ? 0 : shareNotFinite(ours, theirs);
}

std::string inWords(const OutputDifference& apart) {
  if (!apart.problem.empty()) return fmt::format("'{}' {}", apart.output, apart.problem);
  if (apart.notFinite > 0)
    return fmt::format("{:.3g} % of '{}' is infinite or NaN on one side only", 100 * apart.notFinite, apart.output);
  return fmt::format("'{}' differs by {:.3g} of its rms", apart.output, apart.worst);
}

std::string inWords(const CheckedNumbers& checked) {
  return fmt::format(
      "checked on {}: against float32, {} with each value stored, on the reference, and {} as the engine runs it; "
      "against the plan, {}",
      counted(checked.samples, "sample"), inWords(checked.onReference), inWords(checked.onEngine),
      inWords(checked.fromPlan));
}

Json toJson(const CheckedNumbers& checked) {
  return {{"samples", checked.samples},
          {"allowed", checked.tolerance.rms ? Json(*checked.tolerance.rms) : Json()},
          {"reference", toJson(checked.onReference)},
          {"engine", toJson(checked.onEngine)},
          {"plan", toJson(checked.fromPlan)},
          {"summary", inWords(checked)}};
}

}  // namespace fusescope
