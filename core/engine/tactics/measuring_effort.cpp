#include "engine/tactics/measuring_effort.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/elapsed.h"

namespace fusescope {
namespace {

constexpr double kRunsWorth = 1000;  // of the network: what measuring may take, if nobody says so
constexpr double kLeastSeconds = 5, kMostSeconds = 60;
constexpr double kExpectedShare = 0.25;  // that a better tactic saves, before anything of a kind was measured
constexpr double kUsualNoise = 0.01;     // of a quiet machine
// Runs of one moment agree better than two moments do. More than the most is of a busy machine, on which a region is
// measured later, and not given up.
constexpr double kLeastNoise = 0.005, kMostNoise = 0.02;
constexpr int kDisturbedInARow = 3;  // regions, after which the machine counts as busy

}  // namespace

std::string_view name(LeftUnmeasured left) {
  switch (left) {
    case LeftUnmeasured::No:
      return "no";
    case LeftUnmeasured::EffortSpent:
      return "effort";
    case LeftUnmeasured::BelowNoise:
      return "noise";
    case LeftUnmeasured::MachineBusy:
      return "busy";
  }
  return "no";
}

double MeasuringOrder::timeOf(std::size_t region) const {
  return m_stakes[region].ms * static_cast<double>(m_stakes[region].count);
}

std::size_t MeasuringOrder::add(RegionStake stake) {
  const std::size_t region = m_stakes.size();
  m_stakes.push_back(std::move(stake));
  Kind& kind = m_kinds[m_stakes.back().kind];
  kind.regions.push_back(region);
  kind.restMs += timeOf(region);
  return region;
}

double MeasuringOrder::shareOf(const std::string& kind) const {
  const auto found = m_kinds.find(kind);
  if (found == m_kinds.end()) return kExpectedShare;
  return (kExpectedShare + found->second.shares) / static_cast<double>(1 + found->second.learnt);
}

void MeasuringOrder::learn(const std::string& kind, double share) {
  m_kinds[kind].shares += std::clamp(share, 0.0, 1.0);
  ++m_kinds[kind].learnt;
}

double MeasuringOrder::restMs() const {
  double rest = 0;
  for (const auto& [name, kind] : m_kinds)
    if (!kind.regions.empty()) rest += kind.restMs * shareOf(name);
  return rest;
}

/// Within a kind the share is the same, so that the longest time comes first. Of equal ones the earlier is taken.
std::optional<std::size_t> MeasuringOrder::next() {
  if (!m_isSorted) {
    for (auto& [name, kind] : m_kinds)
      std::ranges::sort(kind.regions, [&](std::size_t a, std::size_t b) {
        return std::pair(timeOf(a), b) < std::pair(timeOf(b), a);
      });
    m_isSorted = true;
  }
  Kind* best = nullptr;
  std::pair<double, std::size_t> bestGain;
  for (auto& [name, kind] : m_kinds) {
    if (kind.regions.empty()) continue;
    const std::size_t region = kind.regions.back();
    const std::pair gain{timeOf(region) * shareOf(name), std::numeric_limits<std::size_t>::max() - region};
    if (best != nullptr && gain <= bestGain) continue;
    best = &kind;
    bestGain = gain;
  }
  if (best == nullptr) return std::nullopt;
  const std::size_t region = best->regions.back();
  best->regions.pop_back();
  best->restMs = best->regions.empty() ? 0 : best->restMs - timeOf(region);
  return region;
}

double usualEffortSeconds(double networkMs) {
  return std::clamp(kRunsWorth * networkMs / 1000, kLeastSeconds, kMostSeconds);
}

MeasuringEffort::MeasuringEffort(std::optional<double> seconds, const MeasuredThreads* threads) : m_asked(seconds) {
  if (threads != nullptr) m_nowMs = threads->nowMs;
  if (!m_nowMs) m_nowMs = [start = std::chrono::steady_clock::now()] { return msSince(start); };
  m_report.isAsked = seconds.has_value();
  m_report.budgetSeconds = seconds.value_or(kLeastSeconds);
}

double MeasuringEffort::nowMs() const {
  return m_nowMs();
}

void MeasuringEffort::begin(double networkMs) {
  m_report.wasNeeded = true;
  if (m_hasBegun) return;
  m_hasBegun = true;
  if (!m_asked) m_report.budgetSeconds = usualEffortSeconds(networkMs);
}

void MeasuringEffort::measureAll() {
  m_measuresAll = true;
}

bool MeasuringEffort::isSpent() const {
  return !m_measuresAll && m_report.spentSeconds >= m_report.budgetSeconds;
}

double MeasuringEffort::leftMs() const {
  if (m_measuresAll) return std::numeric_limits<double>::infinity();
  return std::max(0.0, 1000 * (m_report.budgetSeconds - m_report.spentSeconds));
}

void MeasuringEffort::noteSpread(double spread) {
  m_spreads.push_back(spread);
}

double MeasuringEffort::noise() const {
  if (m_spreads.empty()) return kUsualNoise;
  std::vector<double> spreads = m_spreads;
  const auto middle = spreads.begin() + std::ssize(spreads) / 2;
  std::ranges::nth_element(spreads, middle);
  return std::clamp(*middle, kLeastNoise, kMostNoise);
}

bool MeasuringEffort::isBelowNoise(double restMs, double networkMs) const {
  return !m_measuresAll && restMs < noise() * networkMs;
}

void MeasuringEffort::noteAttempt(bool wasDisturbed) {
  m_disturbed = wasDisturbed ? m_disturbed + 1 : 0;
}

bool MeasuringEffort::isBusy() const {
  return !m_measuresAll && m_disturbed >= kDisturbedInARow;
}

LeftUnmeasured MeasuringEffort::whyNot() const {
  const bool isOver = isSpent();
  if (isBusy() || (isOver && isDoubtful())) return LeftUnmeasured::MachineBusy;
  return isOver ? LeftUnmeasured::EffortSpent : LeftUnmeasured::No;
}

void MeasuringEffort::count(LeftUnmeasured left, bool measuredHere) {
  switch (left) {
    case LeftUnmeasured::No:
      ++(measuredHere ? m_report.measured : m_report.known);
      break;
    case LeftUnmeasured::EffortSpent:
      ++m_report.effortSpent;
      break;
    case LeftUnmeasured::BelowNoise:
      ++m_report.belowNoise;
      break;
    case LeftUnmeasured::MachineBusy:
      ++m_report.machineBusy;
      break;
  }
}

MeasuringReport MeasuringEffort::report() const {
  MeasuringReport report = m_report;
  report.noise = noise();
  return report;
}

std::vector<Decision> leftUnmeasured(const MeasuringReport& report) {
  std::vector<Decision> decisions;
  const auto all = report.measured + report.known + report.effortSpent + report.belowNoise + report.machineBusy;
  const auto add = [&](std::string_view code, std::int64_t left, const DecisionArguments& more) {
    if (left == 0) return;
    DecisionArguments arguments{{"left", left}, {"all", all}, {"measured", report.measured}, {"known", report.known}};
    for (const NamedArgument& each : more) arguments[each.name] = each.value;
    decisions.push_back(decide(std::string(code), {}, "times", std::move(arguments)));
  };
  add("build.effort_spent", report.effortSpent, {{"seconds", fmt::format("{:.4g}", report.budgetSeconds)}});
  add("build.below_noise", report.belowNoise, {{"noise", fmt::format("{:.1f}", 100 * report.noise)}});
  add("build.machine_busy", report.machineBusy, {});
  return decisions;
}

}  // namespace fusescope
