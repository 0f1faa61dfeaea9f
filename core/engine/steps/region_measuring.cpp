#include "engine/steps/region_measuring.h"

#include <algorithm>

#include "engine/kernels/plan_backend.h"

namespace fusescope {
namespace {

constexpr int kMostPasses = 3;  // the most repeated measurements
// Of this kind of machine, roughly: regions that have no price are only weighed against each other by them.
constexpr double kRoughOperationsPerMs = 3e7, kRoughBytesPerMs = 1e7;

/// The predicted time of a region, or a rough one.
double likelyMs(const FusedNode& fused) {
  if (fused.predictedMs) return *fused.predictedMs;
  return static_cast<double>(fused.flops.value_or(0)) / kRoughOperationsPerMs +
         static_cast<double>(fused.bytes.value_or(0)) / kRoughBytesPerMs;
}

/// Regions of one kind are expected to gain alike from measuring.
std::string kindOf(const FusedNode& fused) {
  return fused.kind + " " + std::string(name(fused.compute));
}

}  // namespace

Status RegionMeasuring::measure() {
  for (auto& [id, planned] : m_planned) planned.ways.likelyMs = likelyMs(*planned.request.fused);
  TRY(measureOpen());
  scaleGuesses();
  for (auto& [id, planned] : m_planned) m_chooser.price(planned.ways);
  return Done{};
}

Status RegionMeasuring::measureLeft(const std::vector<FusedNodeId>& nodes) {
  const std::size_t before = m_measured.size();
  MeasuringOrder learnsNothing;
  for (const FusedNodeId id : nodes) {
    const TacticWays& ways = m_planned.at(id).ways;
    if (ways.left != LeftUnmeasured::No) TRY(compare(m_regions.at(ways.region), learnsNothing));
  }
  for (std::size_t i = before; i < m_measured.size(); ++i) m_chooser.price(m_planned.at(m_measured[i]).ways);
  return Done{};
}

Status RegionMeasuring::measureOpen() {
  MeasuringOrder order;
  const std::vector<Region*> open = openRegions(order);
  if (open.empty()) return Done{};
  double networkMs = 0;
  for (const auto& [id, planned] : m_planned) networkMs += planned.ways.likelyMs;
  MeasuringEffort& effort = m_chooser.effort();
  effort.begin(networkMs);
  std::vector<Region*> disturbed;
  for (LeftUnmeasured why = LeftUnmeasured::No;;) {
    if (why == LeftUnmeasured::No) why = effort.whyNot();
    if (why == LeftUnmeasured::No && effort.isBelowNoise(order.restMs(), networkMs)) why = LeftUnmeasured::BelowNoise;
    const auto next = order.next();
    if (!next) break;
    if (why != LeftUnmeasured::No) {
      leave(*open[*next], why);
      continue;
    }
    TRY(compare(*open[*next], order));
    if (m_planned.at(open[*next]->nodes.front()).ways.left != LeftUnmeasured::No) disturbed.push_back(open[*next]);
  }
  for (Region* region : disturbed)
    if (effort.whyNot() == LeftUnmeasured::No) TRY(compare(*region, order));
  return Done{};
}

std::vector<RegionMeasuring::Region*> RegionMeasuring::openRegions(MeasuringOrder& order) {
  for (const auto& [id, planned] : m_planned) {
    if (!planned.ways.isComparable) continue;
    Region& region = m_regions[planned.ways.region];
    region.nodes.push_back(id);
    region.isOpen = region.isOpen || !planned.ways.open.empty();
  }
  std::vector<Region*> open;
  for (auto& [key, region] : m_regions) {
    const PlannedTactic& first = m_planned.at(region.nodes.front());
    const std::string kind = kindOf(*first.request.fused);
    if (!region.isOpen) {
      order.learn(kind, savedShare(first.ways.times));
      for (const auto& time : first.ways.times)
        if (time) m_chooser.effort().noteSpread(time->spread);
      continue;
    }
    open.push_back(&region);
    order.add({.kind = kind, .ms = first.ways.likelyMs, .count = std::ssize(region.nodes)});
  }
  return open;
}

/// Equal regions that are offered the same formats have their times from the first.
Status RegionMeasuring::compare(const Region& region, MeasuringOrder& order) {
  for (const FusedNodeId id : region.nodes) {
    PlannedTactic& planned = m_planned.at(id);
    if (m_request.progress) m_request.progress("kernels", planned.request.fused->name);
    TRY(m_chooser.compare(backendOf(planned), planned.request, planned.ways));
    m_measured.push_back(id);
    if (planned.ways.left != LeftUnmeasured::No) {
      leave(region, planned.ways.left);
      return Done{};
    }
  }
  const PlannedTactic& first = m_planned.at(region.nodes.front());
  order.learn(kindOf(*first.request.fused), savedShare(first.ways.times));
  return Done{};
}

void RegionMeasuring::leave(const Region& region, LeftUnmeasured why) {
  for (const FusedNodeId id : region.nodes)
    if (TacticWays& ways = m_planned.at(id).ways; !ways.open.empty()) m_chooser.leave(ways, why);
}

Status RegionMeasuring::measureAgain() {
  for (int i = 0; i < kMostPasses; ++i) {
    for (const FusedNodeId id : m_measured) {
      PlannedTactic& planned = m_planned.at(id);
      if (planned.ways.isSettled) continue;
      if (m_request.progress) m_request.progress("kernels", planned.request.fused->name);
      TRY(m_chooser.measureAgain(backendOf(planned), planned.request, planned.ways));
    }
  }
  for (auto& [id, planned] : m_planned) m_chooser.count(backendOf(planned), planned.request, planned.ways);
  return Done{};
}

/// Of regions that have no price only the proportions are known. What was measured says how long they take: otherwise
/// they would outweigh the measured ones, and a choice that loses much would count as good enough.
void RegionMeasuring::scaleGuesses() {
  double guessed = 0, measured = 0;
  for (const auto& [id, planned] : m_planned) {
    const KernelTime* fastest = fastestTime(planned.ways.times);
    if (planned.request.fused->predictedMs || fastest == nullptr) continue;
    guessed += planned.ways.likelyMs;
    measured += fastest->ms;
  }
  if (guessed <= 0 || measured <= 0) return;
  for (auto& [id, planned] : m_planned)
    if (!planned.request.fused->predictedMs) planned.ways.likelyMs *= measured / guessed;
}

double RegionMeasuring::networkMs() const {
  double sum = 0;
  for (const auto& [id, planned] : m_planned) {
    const KernelTime* fastest = fastestTime(planned.ways.times);
    sum += fastest != nullptr ? fastest->ms : planned.ways.likelyMs;
  }
  return sum;
}

std::size_t RegionMeasuring::countOf(const TacticWays& ways) const {
  const auto region = m_regions.find(ways.region);
  return region == m_regions.end() ? 1 : region->second.nodes.size();
}

void RegionMeasuring::countRegions() {
  for (const auto& [key, region] : m_regions) {
    const auto waysOf = [&](FusedNodeId id) -> const TacticWays& { return m_planned.at(id).ways; };
    const auto left =
        std::ranges::find_if(region.nodes, [&](FusedNodeId id) { return waysOf(id).left != LeftUnmeasured::No; });
    const bool isHere = std::ranges::any_of(region.nodes, [&](FusedNodeId id) { return waysOf(id).measuredHere; });
    m_chooser.effort().count(left == region.nodes.end() ? LeftUnmeasured::No : waysOf(*left).left, isHere);
  }
}

const Backend& RegionMeasuring::backendOf(const PlannedTactic& planned) const {
  return fusescope::backendOf(*m_request.plan, *planned.request.fused);
}

}  // namespace fusescope
