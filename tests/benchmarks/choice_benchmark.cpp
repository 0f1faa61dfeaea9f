// How firm the choices of builds are: `choice_benchmark MODEL.onnx …`. Of each network two cold builds, each with a
// store of times of its own: how many choices agree, and what either's choices cost in all, kernels and conversions,
// compared with those that measuring every candidate at length leads to. All totals are of the times measured at
// length.
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "backends/threads.h"
#include "engine/lowering.h"
#include "session/session.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

constexpr double kAtLength = 8;  // times as long as a build measures

/// What a build came to.
struct Built {
  Program program;
  BuildReport report;
  double ms = 0;
};

struct Network {
  std::shared_ptr<const Plan> plan;
  std::map<std::string, Dims> extents;
};

Result<Network> planned(const std::filesystem::path& path) {
  const auto model = TRY(openModel(path, {}));
  Network network{.plan = TRY(makePlan(model, PlanOptions{}))};
  for (const InputSpec& spec : network.plan->inputSpecs) network.extents[spec.name] = spec.opt;
  return network;
}

Result<Built> build(const Network& network, const std::filesystem::path& times, double effort) {
  const auto start = std::chrono::steady_clock::now();
  Built built;
  const BuildOptions options{.threads = hardwareThreads(), .timingCache = times};
  auto chooser = TRY(TacticChooser::create(*network.plan, options, built.report, {}));
  chooser.measureLonger(effort);
  ShapeCacheCount kernels{.size = 1};
  BodyProfile profile;
  built.program = TRY(lower({.plan = network.plan.get(),
                             .accelerated = findBackend("native"),
                             .threads = options.threads,
                             .extents = network.extents,
                             .dynamicKernels = &kernels,
                             .bodyProfile = &profile},
                            chooser));
  built.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return built;
}

/// Milliseconds of all kernels that were chosen among several and of all conversions, by the times in `store`.
double totalMs(const Network& network, const Built& built, const TimingCache& store) {
  const Backend& backend = *findBackend("native");
  const TimingContext context = timingContext(*network.plan, backend, hardwareThreads());
  const KernelRequests requests = KernelRequests::create(*network.plan, network.extents, hardwareThreads()).value();
  double ms = 0;
  for (const Step& step : built.program.steps) {
    if (step.fused.valid()) continue;
    const TensorDesc& from = built.program.buffers[step.inputs[0]].desc;
    const TensorDesc& to = built.program.buffers[step.outputs[0]].desc;
    if (const auto time = store.find(conversionTimeKey(from, to, timingContext(backend, hardwareThreads()))))
      ms += time->ms;
  }
  for (const TacticChoice& choice : built.report.tactics) {
    const auto& nodes = network.plan->fusedNodes;
    const auto fused = std::ranges::find(nodes, choice.identity, &FusedNode::identity);
    if (fused == nodes.end() || !choice.tactic) continue;
    const std::string region = regionKey(requests.of(*fused).value());
    if (const auto time = store.find(timingKey(region, *choice.tactic, context))) ms += time->ms;
  }
  return ms;
}

std::size_t conversionsOf(const Built& built) {
  return static_cast<std::size_t>(
      std::ranges::count_if(built.program.steps, [](const Step& step) { return !step.fused.valid(); }));
}

Status compare(const std::filesystem::path& path) {
  const Network network = TRY(planned(path));
  const test::TemporaryFolder folder;
  const Built first = TRY(build(network, folder / "first.sqlite", 1));
  const Built second = TRY(build(network, folder / "second.sqlite", 1));
  const Built warm = TRY(build(network, folder / "second.sqlite", 1));
  const auto long_ = folder / "long.sqlite";
  const Built best = TRY(build(network, long_, kAtLength));
  std::size_t choices = 0, agree = 0, again = 0;
  for (std::size_t i = 0; i < first.report.tactics.size(); ++i) {
    const TacticChoice& choice = first.report.tactics[i];
    if (!choice.tactic || choice.candidates.size() < 2) continue;
    ++choices;
    agree += second.report.tactics[i].tactic == choice.tactic ? 1U : 0U;
    again += warm.report.tactics[i].tactic == second.report.tactics[i].tactic ? 1U : 0U;
  }
  const auto store = TRY(TimingCache::open(long_));
  const double least = totalMs(network, best, *store);
  std::printf(
      "%-28s %4zu choices, %5.1f %% agree, warm %5.1f %%; total %.3f and %.3f of the best %.2f ms; "
      "%zu, %zu and %zu conversions; cold %.0f and %.0f ms, warm %.0f ms\n",
      path.stem().c_str(), choices, 100.0 * static_cast<double>(agree) / static_cast<double>(choices),
      100.0 * static_cast<double>(again) / static_cast<double>(choices), totalMs(network, first, *store) / least,
      totalMs(network, second, *store) / least, least, conversionsOf(first), conversionsOf(second), conversionsOf(best),
      first.ms, second.ms, warm.ms);
  std::fflush(stdout);
  return Done{};
}

}  // namespace
}  // namespace fusescope

int main(int count, char** arguments) {
  fusescope::setThreads(0);
  for (int i = 1; i < count; ++i) {
    const fusescope::Status status = fusescope::compare(arguments[i]);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.error().text().c_str());
    return 1;
  }
  return 0;
}
