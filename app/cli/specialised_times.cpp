#include "app/cli/specialised_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/print_times.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "engine/program/extent_check.h"
#include "ir/graph.h"
#include "session/build_and_run.h"

namespace fusescope::cli {
namespace {

std::string trialText(const std::optional<KernelTime>& time) {
  return time ? msText(time->ms) : "-";
}

std::string servedByText(const SampleServing& serving) {
  switch (serving.served.state) {
    case ServingState::TakenOver:
      return "specialised";
    case ServingState::GeneralKept:
      return "general";
    case ServingState::Seen:
      return serving.served.buildMs ? "general (dropped)" : "general";
    case ServingState::Building:
      return "general (building)";
    case ServingState::Trying:
      return "both in turns";
  }
  return "general";
}

/// Returns the times of calls: "0.120 ms, at most 0.300 ms".
std::string callsText(const CallTimes& times) {
  if (times.calls == 0) return "-";
  return fmt::format("{}, at most {}", msText(times.medianMs), msText(times.mostMs));
}

void printServing(const SpecialiseReport& report, const Graph& graph) {
  printTitle("Who serves");
  Table table({{"sample"},
               {"extents"},
               {"served by"},
               {"general", true},
               {"specialised", true},
               {"calls", true},
               {"first call", true},
               {"taken over after", true},
               {"more memory", true}});
  for (const SampleServing& serving : report.samples) {
    const ServedExtents& served = serving.served;
    table.add({shortened(serving.sample, 32), shortened(openExtentsInWords(graph, served.extents), 48),
               servedByText(serving), trialText(served.general), trialText(served.specialised),
               std::to_string(served.calls), msText(serving.firstMs), msText(served.takenOverMs),
               served.bytes > 0 ? bytesText(served.bytes) : "-"});
  }
  table.print();
  printTitle("Calls that the general engine answered");
  Table calls({{"sample"}, {"during a build", true}, {"otherwise", true}});
  for (const SampleServing& serving : report.samples)
    calls.add({shortened(serving.sample, 32), callsText(serving.whileBuilding), callsText(serving.otherwise)});
  calls.print();
  printTitle("Decisions");
  for (const Decision& decision : report.decisions)
    std::cout << fmt::format("{} ({})\n", message(decision), decision.code);
  std::cout << fmt::format("{} with {} of their own memory; at most {} and {} are allowed\n",
                           counted(static_cast<std::int64_t>(report.engines), "specialised engine"),
                           bytesText(report.bytes), report.mostEngines, bytesText(report.mostBytes));
  if (!report.settled)
    std::cout
        << "The time (--settle-seconds) was over before it was decided for all samples which engine serves them.\n";
}

/// Prints the times of each engine that serves calls; samples of equal extents share one row.
void printEngineTimes(const SpecialiseReport& report, const Graph& graph) {
  std::vector<const std::map<std::string, Dims>*> printed;
  for (const SampleServing& serving : report.samples) {
    const auto isSame = [&](const auto* extents) { return *extents == serving.served.extents; };
    if (!serving.time || std::ranges::any_of(printed, isSame)) continue;
    printed.push_back(&serving.served.extents);
    const bool isSpecialised = serving.served.state == ServingState::TakenOver;
    std::cout << fmt::format("\nThe {} engine, which serves {}:\n", isSpecialised ? "specialised" : "general",
                             openExtentsInWords(graph, serving.served.extents));
    printTimes(*serving.time);
  }
}

}  // namespace

Status timeSpecialised(const Artifact& artifact, const BuildOptions& options, const Samples& samples,
                       const SpecialiseRequest& request, bool asJson) {
  const auto engine = TRY(openSpecialising(artifact, options, request));
  const auto report = TRY(specialiseOn(*engine, samples, request));
  clearProgressLine();
  const Graph& graph = engine->plan().graph();
  if (asJson) {
    Json json = toJson(report);
    json["random_inputs"] = samples.random;
    json["memory"] = memoryJson(engine->report());
    printJson(json);
    return Done{};
  }
  printServing(report, graph);
  printEngineTimes(report, graph);
  printAboutInputs(samples);
  return Done{};
}

}  // namespace fusescope::cli
