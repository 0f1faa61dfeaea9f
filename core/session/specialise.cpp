#include "session/specialise.h"

#include <algorithm>
#include <chrono>

#include "base/elapsed.h"
#include "base/medians.h"
#include "engine/program/extent_check.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "session/documents/report_json.h"

namespace fusescope {
namespace {

/// The times of the calls of one sample, by the engine that answered.
struct Calls {
  double firstMs = 0;
  std::vector<double> whileBuilding, otherwise;
};

CallTimes timesOf(const std::vector<double>& ms) {
  CallTimes times{.calls = std::ssize(ms)};
  if (ms.empty()) return times;
  times.medianMs = median(ms);
  times.mostMs = std::ranges::max(ms);
  return times;
}

/// Returns whether further calls would not change which engine serves: extents whose engine was dropped for memory wait
/// for many more calls.
bool isSettled(const SpecialisingEngine& engine, const Sample& sample) {
  const auto served = engine.served(extentsOf(sample.inputs));
  if (!served) return !hasOpenInput(engine.plan().graph());
  if (served->state == ServingState::Seen) return served->buildMs.has_value();
  return served->state == ServingState::TakenOver || served->state == ServingState::GeneralKept;
}

Status callOnce(SpecialisingEngine& engine, const Sample& sample, std::size_t samples, Calls& calls,
                const StopToken& stop) {
  const bool isFirst = calls.firstMs == 0;
  const bool wasBuilding = engine.isBuilding();
  const auto start = std::chrono::steady_clock::now();
  TRY(inSample(engine.run(sample.inputs, {}, stop), sample, samples));
  const double ms = msSince(start);
  if (isFirst) calls.firstMs = ms;
  const auto served = engine.served(extentsOf(sample.inputs));
  if (isFirst || (served && served->last == ServedBy::Specialised)) return Done{};
  (wasBuilding ? calls.whileBuilding : calls.otherwise).push_back(ms);
  return Done{};
}

/// Calls all samples in turn until all are decided. Returns false if the time was over before.
Result<bool> callUntilSettled(SpecialisingEngine& engine, const Samples& samples, const SpecialiseRequest& request,
                              std::vector<Calls>& calls) {
  const auto start = std::chrono::steady_clock::now();
  const Progress& progress = request.time.progress;
  while (true) {
    std::size_t settled = 0;
    for (std::size_t i = 0; i < samples.list.size(); ++i) {
      const Sample& sample = samples.list[i];
      TRY(callOnce(engine, sample, samples.list.size(), calls[i], request.time.stop));
      settled += isSettled(engine, sample) ? 1 : 0;
    }
    if (settled == samples.list.size() && !engine.isBuilding()) return true;
    if (msSince(start) > 1000 * request.mostSeconds) return false;
    if (progress)
      progress("specialise", std::to_string(settled) + " of " + std::to_string(samples.list.size()) + " samples");
  }
}

Json callsJson(const CallTimes& times) {
  return {
      {"calls", times.calls}, {"median_ms", optionalNumber(times.medianMs)}, {"most_ms", optionalNumber(times.mostMs)}};
}

Json trialJson(const std::optional<KernelTime>& time) {
  return time ? Json(time->ms) : Json(nullptr);
}

Json servingJson(const SampleServing& serving) {
  const ServedExtents& served = serving.served;
  Json json{{"sample", serving.sample},
            {"extents", Json(served.extents)},
            {"served_by", name(served.state == ServingState::TakenOver ? ServedBy::Specialised : ServedBy::General)},
            {"state", name(served.state)},
            {"calls", served.calls},
            {"calls_by_specialised", served.bySpecialised},
            {"first_ms", serving.firstMs},
            {"while_building", callsJson(serving.whileBuilding)},
            {"otherwise", callsJson(serving.otherwise)},
            {"general_ms", trialJson(served.general)},
            {"specialised_ms", trialJson(served.specialised)},
            {"build_ms", optionalNumber(served.buildMs)},
            {"taken_over_ms", optionalNumber(served.takenOverMs)},
            {"bytes", served.bytes},
            {"time", nullptr}};
  if (!serving.time) return json;
  json["time"] = toJson(*serving.time);
  json["time"].erase("format");
  json["time"].erase("version");
  return json;
}

}  // namespace

Result<std::unique_ptr<SpecialisingEngine>> openSpecialising(const Artifact& artifact, const BuildOptions& options,
                                                             const SpecialiseRequest& request) {
  auto general = TRY(openEngine(artifact, options));
  auto specialise = TRY(specialiserOf(*general, options));
  SpecialiseOptions limits{
      .mostEngines = request.mostEngines, .mostBytes = request.mostBytes, .specialise = std::move(specialise)};
  return std::make_unique<SpecialisingEngine>(std::move(general), std::move(limits));
}

Result<SpecialiseReport> specialiseOn(SpecialisingEngine& engine, const Samples& samples,
                                      const SpecialiseRequest& request) {
  std::vector<Calls> calls(samples.list.size());
  SpecialiseReport report{.mostEngines = request.mostEngines, .mostBytes = request.mostBytes};
  report.settled = TRY(callUntilSettled(engine, samples, request, calls));
  for (std::size_t i = 0; i < samples.list.size(); ++i) {
    const Sample& sample = samples.list[i];
    const auto extents = extentsOf(sample.inputs);
    Engine& server = engine.serving(extents);  // takes over a build that has finished, so that the report includes it
    SampleServing serving{.sample = sample.name,
                          .served = engine.served(extents).value_or(ServedExtents{.extents = extents}),
                          .firstMs = calls[i].firstMs,
                          .whileBuilding = timesOf(calls[i].whileBuilding),
                          .otherwise = timesOf(calls[i].otherwise)};
    const auto before = std::ranges::find_if(
        report.samples, [&](const SampleServing& other) { return other.served.extents == extents; });
    if (before != report.samples.end()) {
      serving.time = before->time;
    } else {
      auto time = inSample(timeEngine(server, sample.inputs, request.time), sample, samples.list.size());
      if (!time.ok()) return std::move(time).error();
      serving.time = std::move(time).value();
    }
    report.samples.push_back(std::move(serving));
  }
  report.decisions = engine.decisions();
  report.engines = engine.engines();
  report.bytes = engine.bytes();
  return report;
}

Json toJson(const SpecialiseReport& report) {
  Json json{{"format", "fusescope.specialised"},  {"version", 1},
            {"settled", report.settled},          {"engines", report.engines},
            {"most_engines", report.mostEngines}, {"bytes", report.bytes},
            {"most_bytes", report.mostBytes},     {"samples", Json::array()},
            {"decisions", Json::array()}};
  for (const SampleServing& serving : report.samples) json["samples"].push_back(servingJson(serving));
  for (const Decision& decision : report.decisions) json["decisions"].push_back(toJson(decision));
  return json;
}

}  // namespace fusescope
