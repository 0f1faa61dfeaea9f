// What the core takes for work that grows with a network; prints a line for each question. See `core_benchmark help`.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "diff/diff_plans.h"
#include "engine/engine.h"
#include "ir/graph.h"
#include "layout/layout.h"
#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "session/worker_protocol.h"

namespace fusescope {
namespace {

constexpr int kRounds = 5;

/// The processor's time that `work` takes, in milliseconds: what others take of the machine is not its own.
template <class Work>
double cpuMs(Work work) {
  const std::clock_t start = std::clock();
  work();
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// A chain of boxes in which every third one has an edge past the next three.
int layout(int boxes) {
  LayoutGraph graph;
  for (int i = 0; i < boxes; ++i) graph.boxes.push_back({"b" + std::to_string(i), 140.0 + (i * 37) % 90, 60, -1});
  for (int i = 0; i + 1 < boxes; ++i) graph.edges.push_back({i, i + 1});
  for (int i = 0; i + 4 < boxes; i += 3) graph.edges.push_back({i, i + 4});
  bool done = false;
  const double ms = cpuMs([&] { done = layOut(graph, LayoutOptions()).ok(); });
  std::printf("layout of %d boxes: %.0f ms of CPU%s\n", boxes, ms, done ? "" : " (failed)");
  return done ? 0 : 1;
}

/// What opening a network takes: its import and its first plan, the median of some rounds.
int open(const std::string& path) {
  std::vector<double> imports, plans;
  std::size_t nodes = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::shared_ptr<const Model> model;
    imports.push_back(cpuMs([&] {
      const auto opened = openModel(path);
      if (opened.ok()) model = opened.value();
    }));
    if (model == nullptr) return std::printf("%s: not opened\n", path.c_str()), 1;
    nodes = model->graph->nodeCount();
    bool planned = false;
    plans.push_back(cpuMs([&] { planned = makePlan(model, {}).ok(); }));
    if (!planned) return std::printf("%s: no plan\n", path.c_str()), 1;
  }
  const auto median = [](std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    return times[kRounds / 2];
  };
  std::printf("opening %zu nodes: import %.0f ms, plan %.0f ms of CPU (medians of %d rounds)\n", nodes, median(imports),
              median(plans), kRounds);
  return 0;
}

/// A network planned in f32 and in f16, and what differs between the two.
int diff(const std::string& path) {
  const auto model = openModel(path);
  if (!model.ok()) return std::printf("%s\n", model.error().text().c_str()), 1;
  const auto a = makePlan(model.value(), {}), b = makePlan(model.value(), {.precisions = {DataType::F16}});
  if (!a.ok() || !b.ok()) return std::printf("%s: no plan\n", path.c_str()), 1;
  std::size_t types = 0;
  const double ms = cpuMs([&] {
    const auto found =
        diffPlans({.cover = a.value().get(), .label = "f32"}, {.cover = b.value().get(), .label = "f16"});
    types = found.ok() ? found.value().types.size() : 0;
  });
  std::printf("diff of %zu nodes, %zu types differ: %.0f ms of CPU\n", a.value()->graph().nodeCount(), types, ms);
  return 0;
}

/// Lines of progress as the window reads them.
int progress(int lines) {
  const std::string line = workerLine(toJson(WorkerEvent{.id = 1, .phase = "kernels", .detail = "123"}));
  bool read = true;
  const double ms = cpuMs([&] {
    for (int i = 0; i < lines; ++i) read = parseWorkerEvent(line).ok() && read;
  });
  std::printf("a line of progress: %.1f us of CPU%s\n", 1000 * ms / lines, read ? "" : " (not read)");
  return read ? 0 : 1;
}

/// What the layers of a timing add up to, as a part of the time of runs without clocks between the layers.
int layers(const std::string& path) {
  const auto model = openModel(path);
  if (!model.ok()) return std::printf("%s\n", model.error().text().c_str()), 1;
  const auto plan = makePlan(model.value(), {});
  if (!plan.ok()) return std::printf("%s\n", plan.error().text().c_str()), 1;
  const auto engine = buildEngine(plan.value(), {.threads = 1, .measureTactics = false});
  if (!engine.ok()) return std::printf("%s\n", engine.error().text().c_str()), 1;
  const auto report = engine.value()->time(randomInputs(*plan.value()), {.seconds = 1, .perLayer = true});
  if (!report.ok()) return std::printf("%s\n", report.error().text().c_str()), 1;
  double sum = 0;
  for (const StepTime& layer : report.value().layers) sum += layer.medianMs.value_or(0);
  const double whole = report.value().medianMs.value_or(0);
  std::printf("%s: layers add up to %.3f of %.3f ms: %.3f\n", path.c_str(), sum, whole, sum / whole);
  return 0;
}

int run(const std::string& what, const std::vector<std::string>& rest) {
  int failed = 0;
  for (const std::string& of : rest) {
    if (what == "layout") failed |= layout(std::stoi(of));
    if (what == "open") failed |= open(of);
    if (what == "diff") failed |= diff(of);
    if (what == "progress") failed |= progress(std::stoi(of));
    if (what == "layers") failed |= layers(of);
  }
  if (!rest.empty()) return failed;
  std::printf(
      "core_benchmark layout BOXES…\ncore_benchmark open MODEL…\ncore_benchmark diff MODEL…\n"
      "core_benchmark progress LINES…\ncore_benchmark layers MODEL…\n");
  return 2;
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  return fusescope::run(argc > 1 ? argv[1] : "help", std::vector<std::string>(argv + std::min(argc, 2), argv + argc));
}
