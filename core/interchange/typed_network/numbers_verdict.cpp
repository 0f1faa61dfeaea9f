#include "interchange/typed_network/numbers_verdict.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/text.h"
#include "engine/kernels/input_check.h"
#include "planning/types/without_lowered_types.h"
#include "verify/layer_errors.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostNamed = 5;  ///< nodes at which it begins

/// "100 % of output 'y' is infinite or NaN where float32 is finite, on sample 1 of 2, by the reference backend".
std::string howFar(const OutputDifference& apart, std::string_view backend, const ExportOptions& options) {
  std::string text;
  if (!apart.problem.empty()) {
    text = fmt::format("output '{}' {}", apart.output, apart.problem);
  } else if (apart.notFinite > 0) {
    text = fmt::format("{:.3g} % of output '{}' is infinite or NaN where float32 is finite", 100 * apart.notFinite,
                       apart.output);
  } else {
    text = fmt::format("output '{}' differs from float32 by {:.3g} of its rms", apart.output, apart.worst);
    if (options.tolerance.rms) text += fmt::format(" (allowed is {:.3g})", *options.tolerance.rms);
  }
  const std::string sample = sampleNames(options.sampleNames, options.samples.size())[apart.sample];
  return text + (sample.empty() ? "" : ", on sample " + sample) + fmt::format(", by the {} backend", backend);
}

std::string whatHelps(const OutputDifference& apart) {
  const std::string text =
      "Nothing was written. Find the nodes to pin with fusescope tune, and export with its directives";
  return text + (apart.notFinite > 0 ? "." : "; or allow more with --tol-rms.") +
         " The check uses our own engine; pins that were found for another compiler or target may not be enough for "
         "it.";
}

/// Returns whether the node makes it wrong by itself: where numbers become infinite, that alone counts.
bool beginsIt(const TensorErrors& tensor, const OutputDifference& apart, const Tolerance& tolerance) {
  const auto& local = tensor.errors.local;
  if (!local) return false;
  return apart.notFinite > 0 ? local->nonFinite > 0 : tolerance.rms && fractionOfBound(*local, *tolerance.rms) > 1;
}

/// The nodes at which it begins, "conv + relu (y), …"; and the value of the first of them.
std::pair<std::string, std::string> beginningIn(const LayerErrorReport& report, const OutputDifference& apart,
                                                const Tolerance& tolerance) {
  std::vector<std::string> named;
  std::string first;
  std::size_t more = 0;
  for (const TensorErrors& tensor : report.tensors) {
    if (!report.leading.contains(tensor.name) || !beginsIt(tensor, apart, tolerance)) continue;
    if (first.empty()) first = tensor.name;
    if (named.size() < kMostNamed) {
      named.push_back(fmt::format("{} ({})", tensor.fusedNode, tensor.name));
    } else {
      ++more;
    }
  }
  if (!named.empty()) return {joined(named) + (more > 0 ? fmt::format(" and {} more", more) : ""), first};
  if (!report.firstWrong) return {};
  return {fmt::format("{} ({}): {}", report.firstWrong->node, report.firstWrong->tensor, report.firstWrong->why),
          report.firstWrong->tensor};
}

}  // namespace

Result<std::optional<Diagnostic>> tooFarFromFloat32(const Plan& plan, const OutputDifference& apart,
                                                    const std::string& backend, const ExportOptions& options) {
  const auto lowered = std::shared_ptr<const Plan>(std::shared_ptr<void>(), &plan);  // the caller's
  const auto exact = TRY(exactPlanFor(plan, withoutLoweredTypes(plan.options), options.stop));
  const auto report = measureLayerErrors(
      exact, lowered, options.samples,
      {.backend = backend, .sampleNames = options.sampleNames, .tolerance = options.tolerance, .stop = options.stop});
  Diagnostic said{.message = howFar(apart, backend, options), .help = whatHelps(apart)};
  if (!report.ok()) {  // it fails as it is: where it begins is only not told then
    if (report.error().cancelled) return report.error();
    return std::optional(said);
  }
  const auto [nodes, value] = beginningIn(report.value(), apart, options.tolerance);
  if (nodes.empty()) return std::optional(said);
  said.message += "; it begins at " + nodes;
  said.where.value = value;
  return std::optional(said);
}

Diagnostic storedTooFarFromFloat32(const OutputDifference& apart, const std::string& first, double by,
                                   const ExportOptions& options) {
  return {.message = fmt::format(
              "the plan is near enough to float32, but a network that stores every value between two nodes is not, "
              "with more Casts too: {}; '{}' is the first value that differs from the plan, by {:.3g} of its rms",
              howFar(apart, "reference", options), first, by),
          .where = {.value = first},
          .help = "Nothing was written. Pin the nodes around it to f32" +
                  std::string(apart.notFinite > 0 ? "." : ", or allow more with --tol-rms.")};
}

}  // namespace fusescope
