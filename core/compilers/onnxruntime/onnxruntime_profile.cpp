#include "compilers/onnxruntime/onnxruntime_profile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json_fields.h"
#include "base/medians.h"

namespace fusescope::onnxruntime {
namespace {

/// An event of the profile, with times in microseconds.
struct Event {
  std::string category, name;
  double start = 0, duration = 0;
  double end() const { return start + duration; }
};

Result<Event> eventFrom(const Json& json) {
  Event event;
  JsonFields fields(json);
  fields.read("cat", event.category).read("name", event.name).readNumber("ts", event.start);
  fields.readNumber("dur", event.duration);
  if (!std::isfinite(event.start) || !std::isfinite(event.duration) || event.duration < 0)
    return Diagnostic{.message = "an event has no time", .where = {.attribute = event.name}};
  return fields.result(std::move(event));
}

Result<std::vector<Event>> eventsOf(const Json& profile) {
  if (!profile.is_array()) return Diagnostic{.message = "The profile of ONNX Runtime is not a list of events."};
  std::vector<Event> events;
  for (const Json& json : profile) events.push_back(TRY(eventFrom(json)));
  // An event that begins together with another one and ends before it is inside that event.
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  return events;
}

}  // namespace

Result<std::map<std::string, double>> kernelTimesOf(const Json& profile) {
  constexpr std::string_view suffix = "_kernel_time";
  const std::vector<Event> events = TRY(eventsOf(profile));
  std::vector<std::map<std::string, double>> runs;
  double runEnd = -1, kernelEnd = -1;
  for (const Event& event : events) {
    if (event.category == "Session" && event.name == "model_run") {
      runs.emplace_back();
      runEnd = event.end();
      kernelEnd = -1;
    }
    const bool isKernel = event.category == "Node" && event.name.ends_with(suffix);
    if (!isKernel || event.start > runEnd || event.start < kernelEnd) continue;
    kernelEnd = event.end();
    runs.back()[event.name.substr(0, event.name.size() - suffix.size())] += event.duration;
  }
  if (runs.size() < 2) return Diagnostic{.message = "The profile of ONNX Runtime has fewer than two runs."};
  std::map<std::string, std::vector<double>> byName;
  for (auto run = runs.begin() + 1; run != runs.end(); ++run)
    for (const auto& [name, microseconds] : *run) byName[name].push_back(microseconds);
  std::map<std::string, double> times;
  for (auto& [name, microseconds] : byName) times.emplace(name, median(std::move(microseconds)) / 1000);
  return times;
}

}  // namespace fusescope::onnxruntime
