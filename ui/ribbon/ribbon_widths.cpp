#include "ui/ribbon/ribbon_widths.h"

#include <algorithm>
#include <numeric>

namespace fusescope {

namespace {

constexpr double kLeastShare = 1e-5;

std::optional<double> workOf(const KernelCost& kernel) {
  if (kernel.flops && *kernel.flops > 0) return static_cast<double>(*kernel.flops);
  if (kernel.bytes && *kernel.bytes > 0) return static_cast<double>(*kernel.bytes);
  return std::nullopt;
}

std::optional<double> measureOf(const KernelCost& kernel, WidthBasis basis) {
  switch (basis) {
    case WidthBasis::Time:
      return kernel.ms;
    case WidthBasis::Work:
      return workOf(kernel);
    case WidthBasis::Bytes:
      return kernel.bytes ? std::optional<double>(static_cast<double>(*kernel.bytes)) : std::nullopt;
    case WidthBasis::Even:
      break;
  }
  return 1.0;
}

/// Returns the milliseconds per unit of work, from the kernels for which both are known; 0 if there are none.
double rateOf(const std::vector<KernelCost>& kernels) {
  double ms = 0, work = 0;
  for (const KernelCost& kernel : kernels) {
    const auto itsWork = workOf(kernel);
    if (!kernel.ms || !itsWork) continue;
    ms += *kernel.ms;
    work += *itsWork;
  }
  return work > 0 ? ms / work : 0;
}

/// Returns whether a lane can be drawn on this basis: a kernel has a measure, and no more than half of all kernels
/// would have the minimum width. Else one kernel would be as wide as the lane, and the others could not be seen.
bool canBeDrawn(const std::vector<KernelCost>& lane, WidthBasis basis) {
  if (lane.empty()) return true;
  const bool anyKnown =
      std::ranges::any_of(lane, [&](const KernelCost& kernel) { return measureOf(kernel, basis).value_or(0) > 0; });
  return anyKnown && kernelWidths(lane, basis).atMinimumWidth * 2 <= lane.size();
}

}  // namespace

WidthBasis basisOf(const std::vector<std::vector<KernelCost>>& lanes, RibbonWidth wanted) {
  const auto canBe = [&](WidthBasis basis) {
    return std::ranges::all_of(lanes, [&](const auto& lane) { return canBeDrawn(lane, basis); });
  };
  if (wanted == RibbonWidth::Time && canBe(WidthBasis::Time)) return WidthBasis::Time;
  if (wanted == RibbonWidth::Bytes && canBe(WidthBasis::Bytes)) return WidthBasis::Bytes;
  if (wanted == RibbonWidth::Time && canBe(WidthBasis::Work)) return WidthBasis::Work;
  return WidthBasis::Even;
}

KernelWidths kernelWidths(const std::vector<KernelCost>& kernels, WidthBasis basis) {
  KernelWidths widths;
  widths.of.reserve(kernels.size());
  const double rate = basis == WidthBasis::Time ? rateOf(kernels) : 0;
  for (const KernelCost& kernel : kernels) {
    const auto measure = measureOf(kernel, basis);
    const auto work = workOf(kernel);
    if (!measure) ++widths.unknown;
    if (!measure && (!work || rate <= 0)) ++widths.atMinimumWidth;
    widths.of.push_back(measure ? *measure : work ? rate * *work : 0);
  }
  const double total = std::accumulate(widths.of.begin(), widths.of.end(), 0.0);
  const double least = total > 0 ? total * kLeastShare : 1;
  for (double& width : widths.of) width = std::max(width, least);
  return widths;
}

}  // namespace fusescope
