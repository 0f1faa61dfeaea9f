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

template <class Has>
bool eachLane(const std::vector<std::vector<KernelCost>>& lanes, Has has) {
  return std::ranges::all_of(
      lanes, [&](const std::vector<KernelCost>& lane) { return lane.empty() || std::ranges::any_of(lane, has); });
}

}  // namespace

WidthBasis basisOf(const std::vector<std::vector<KernelCost>>& lanes, RibbonWidth wanted) {
  if (wanted == RibbonWidth::Time &&
      eachLane(lanes, [](const KernelCost& kernel) { return kernel.ms && *kernel.ms > 0; }))
    return WidthBasis::Time;
  const auto hasBytes = [](const KernelCost& kernel) { return kernel.bytes && *kernel.bytes > 0; };
  if (wanted == RibbonWidth::Bytes && eachLane(lanes, hasBytes)) return WidthBasis::Bytes;
  if (wanted == RibbonWidth::Time &&
      eachLane(lanes, [](const KernelCost& kernel) { return workOf(kernel).has_value(); }))
    return WidthBasis::Work;
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
