// Finds where a lowered network first goes wrong.
#include <fmt/format.h>

#include <set>

#include "ir/graph.h"
#include "verify/layer_errors.h"
#include "verify/value_sources.h"

namespace fusescope {
namespace {

/// Returns the number by which it is judged, as text.
std::string inWords(const TensorError& error) {
  return fmt::format("{:.3g} {}", judgedError(error), error.codes ? "in relative L2" : "of rms");
}

/// Returns what is wrong by `tolerance`, for people, or nothing if it is good enough.
std::optional<std::string> whatIsWrong(const std::optional<TensorError>& error, const Tolerance& tolerance) {
  if (!error) return std::nullopt;
  if (error->nonFinite > 0)
    return fmt::format("{:.3g} % of its elements became infinite or NaN", 100 * error->nonFinite);
  if (!tolerance.rms || fractionOfBound(*error, *tolerance.rms) <= 1) return std::nullopt;
  return fmt::format("{} is {}, at most {:.3g} is allowed",
                     error->codes ? "the error of its dequantised codes" : "max|Δ|", inWords(*error), *tolerance.rms);
}

/// Returns the first tensor with a local error, or else the first with a carried one, of those for which `counts` is
/// true.
template <class Counts>
std::optional<FirstWrong> firstAmong(const std::vector<TensorErrors>& tensors, const Tolerance& tolerance,
                                     Counts counts) {
  for (const TensorErrors& tensor : tensors)
    if (const auto wrong = whatIsWrong(tensor.errors.local, tolerance); wrong && counts(tensor))
      return FirstWrong{tensor.fusedNode, tensor.name, *wrong + " although its inputs are exact", true};
  const TensorErrors* largest = nullptr;  // the one with the largest local error so far
  for (const TensorErrors& tensor : tensors) {
    const auto& local = tensor.errors.local;
    const bool isLarger = local && (largest == nullptr || judgedError(*local) > judgedError(*largest->errors.local));
    if (isLarger && !whatIsWrong(local, tolerance)) largest = &tensor;
    const auto wrong = whatIsWrong(tensor.errors.carried, tolerance);
    if (!wrong || !counts(tensor)) continue;
    std::string why = *wrong + "; no node that it depends on is wrong by itself, but their errors add up";
    if (largest != nullptr)
      why += fmt::format(": the largest is {}, at {}", inWords(*largest->errors.local), largest->name);
    return FirstWrong{tensor.fusedNode, tensor.name, why, false};
  }
  return std::nullopt;
}

}  // namespace

std::set<std::string> leadingToOutputs(const std::vector<TensorErrors>& tensors, const Graph& graph,
                                       const Tolerance& tolerance) {
  std::set<std::string> known, right;
  for (const TensorErrors& tensor : tensors) {
    known.insert(tensor.name);
    if (tensor.errors.carried && !whatIsWrong(tensor.errors.carried, tolerance)) right.insert(tensor.name);
  }
  std::vector<std::string> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(graph.value(output).name);
  return leadingTo(std::move(outputs), valueSourcesIn(graph, known), right);
}

std::optional<FirstWrong> firstWrongOf(const std::vector<TensorErrors>& tensors, const std::set<std::string>& leading,
                                       const Tolerance& tolerance) {
  if (auto first = firstAmong(tensors, tolerance, [&](const TensorErrors& t) { return leading.contains(t.name); }))
    return first;
  auto harmless = firstAmong(tensors, tolerance, [](const TensorErrors&) { return true; });
  if (harmless) harmless->why += "; no output of the network is wrong because of it";
  return harmless;
}

}  // namespace fusescope
