#include "session/reports/report_times.h"

#include <algorithm>
#include <array>

#include "session/documents/report_json.h"

namespace fusescope {

namespace {

/// The sources of times, from the most certain to the least.
constexpr std::array<std::string_view, 6> kCertainty = {"run", "built", "measured", "fitted", "emulated", "unknown"};

}  // namespace

ReportTimes::ReportTimes(const ReportSide& side) : m_side(side) {
  if (side.run != nullptr && side.run->time) add(std::as_const(side.run->time)->layers);
}

void ReportTimes::add(const std::vector<RunLayer>& layers) {
  for (const RunLayer& layer : layers) {
    add(layer.kernels);
    if (!layer.identity.empty()) m_layers.try_emplace(layer.identity, &layer);
  }
}

const RunLayer* ReportTimes::layer(const FusedNode& fused) const {
  const auto found = m_layers.find(fused.identity.hex());
  return found == m_layers.end() ? nullptr : found->second;
}

KnownTime ReportTimes::of(const FusedNode& fused) const {
  if (const RunLayer* step = layer(fused)) {
    if (step->medianMs) return {step->medianMs, "run"};
    if (step->emulated) return {std::nullopt, "emulated"};
  }
  if (const auto known = m_side.known.times.find(fused.identity); known != m_side.known.times.end())
    return {known->second.ms, std::string(name(known->second.how))};
  if (fused.predictedMs) return {fused.predictedMs, std::string(name(fused.predictedHow))};
  return {};
}

KnownTime sumOf(const std::vector<KnownTime>& times) {
  if (times.empty()) return {};
  KnownTime sum{.ms = 0, .how = "run"};
  const auto rank = [](const std::string& how) { return std::ranges::find(kCertainty, how) - kCertainty.begin(); };
  for (const KnownTime& time : times) {
    if (rank(time.how) > rank(sum.how)) sum.how = time.how;
    sum.ms = sum.ms && time.ms ? std::optional(*sum.ms + *time.ms) : std::nullopt;
  }
  return sum;
}

Json toJson(const KnownTime& time) {
  return {{"ms", optionalNumber(time.ms)}, {"how", time.how}};
}

}  // namespace fusescope
