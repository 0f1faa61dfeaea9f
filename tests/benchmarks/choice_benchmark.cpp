// How firm the choices of builds are: `choice_benchmark [--pairs N] [--differences] [--stores FOLDER] MODEL.onnx …`. Of
// each network pairs of cold builds, each with a store of times of its own: how many choices agree, and what either's
// choices cost in all, kernels and conversions, compared with those that measuring every candidate at length leads to.
// All totals are of the times measured at length. With --differences also where the builds of a pair differ, with the
// times of both ways as either measured them and at length.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>

#include "backends/threads.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/steps/lowering.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

constexpr double kAtLength = 4;       // times as long as a build measures
constexpr double kWorthTaking = 1.5;  // times the fastest: nobody takes a slower one

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
  const auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path)))));
  Network network{.plan = TRY(makePlan(model, PlanOptions{}))};
  for (const InputSpec& spec : network.plan->inputSpecs) network.extents[spec.name] = spec.opt;
  return network;
}

Result<Built> build(const Network& network, const std::filesystem::path& times, double effort) {
  const auto start = std::chrono::steady_clock::now();
  Built built;
  const BuildOptions options{.threads = hardwareThreads(), .timingCache = times};
  auto chooser = TRY(TacticChooser::create(*network.plan, options, built.report, {}));
  if (effort > 1) chooser.chooseAtLength(effort);
  ShapeCacheCount kernels{.size = 1};
  BodyProfile profile;
  built.program = TRY(lower({.plan = network.plan.get(),
                             .threads = options.threads,
                             .extents = network.extents,
                             .dynamicKernels = &kernels,
                             .bodyProfile = &profile},
                            chooser));
  built.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return built;
}

/// What is asked of the benchmark.
struct Wanted {
  int pairs = 1;
  bool differences = false;
  std::filesystem::path stores;  ///< kept, and used where they are there: the same times, chosen among anew
  std::vector<std::filesystem::path> models;
};

/// Times that a build measured, by what they are of.
class Times {
 public:
  static Result<Times> open(const Network& network, const std::filesystem::path& store) {
    return Times(network, TRY(TimingCache::open(store)),
                 TRY(KernelRequests::create(*network.plan, network.extents, hardwareThreads())));
  }

  std::optional<Measurement> of(const TacticChoice& choice, const Tactic& tactic) const {
    const auto& nodes = m_plan->fusedNodes;
    const auto fused = std::ranges::find(nodes, choice.identity, &FusedNode::identity);
    if (fused == nodes.end()) return std::nullopt;
    return m_store->find(timingKey(regionKey(m_requests.of(*fused).value()), tactic, m_context));
  }

  /// Milliseconds of all kernels that were chosen among several and of all conversions, and how many of them are
  /// unknown here.
  std::pair<double, int> totalOf(const Built& built) const {
    std::pair<double, int> total;
    const auto add = [&](const std::optional<Measurement>& time) {
      total.first += time ? time->ms : 0;
      total.second += time ? 0 : 1;
    };
    for (const Step& step : built.program.steps) {
      if (step.fused.valid()) continue;
      const TensorDesc& from = built.program.buffers[step.inputs[0]].desc;
      const TensorDesc& to = built.program.buffers[step.outputs[0]].desc;
      add(m_store->find(conversionTimeKey(from, to, timingContext(*findBackend("native"), hardwareThreads()))));
    }
    for (const TacticChoice& choice : built.report.tactics)
      if (isChoice(choice)) add(of(choice, *choice.tactic));
    return total;
  }

  /// Whether there was anything to measure; the reference is no candidate.
  static bool isChoice(const TacticChoice& choice) {
    return choice.tactic &&
           std::ranges::count_if(choice.candidates, [](const TacticTime& time) { return time.ms.has_value(); }) > 1;
  }

 private:
  Times(const Network& network, std::shared_ptr<const TimingCache> store, KernelRequests requests)
      : m_plan(network.plan.get()),
        m_store(std::move(store)),
        m_requests(std::move(requests)),
        m_context(timingContext(*network.plan, *findBackend("native"), hardwareThreads())) {}

  const Plan* m_plan;
  std::shared_ptr<const TimingCache> m_store;
  KernelRequests m_requests;
  TimingContext m_context;
};

std::size_t conversionsOf(const Built& built) {
  return static_cast<std::size_t>(
      std::ranges::count_if(built.program.steps, [](const Step& step) { return !step.fused.valid(); }));
}

std::string text(const std::optional<Measurement>& time) {
  if (!time) return "-";
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4f±%.0f%%", time->ms, 100 * time->spread);
  return buffer.data();
}

/// How far the times of two builds differ, as the logarithm of their ratio: of all kernels that either may take.
std::vector<double> noise(const Built& first, const Built& second) {
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < first.report.tactics.size(); ++i) {
    const auto &one = first.report.tactics[i].candidates, &other = second.report.tactics[i].candidates;
    double best = std::numeric_limits<double>::infinity();
    for (const TacticTime& time : one) best = std::min(best, time.ms.value_or(best));
    for (std::size_t k = 0; k < one.size(); ++k)
      if (one[k].ms && other[k].ms && *one[k].ms < kWorthTaking * best)
        logarithms.push_back(std::abs(std::log(*one[k].ms / *other[k].ms)));
  }
  std::ranges::sort(logarithms);
  return logarithms;
}

double percentOfRank(const std::vector<double>& sorted, double rank) {
  if (sorted.empty()) return 0;
  return 100 * std::expm1(sorted[static_cast<std::size_t>(rank * static_cast<double>(sorted.size() - 1))]);
}

struct Agreement {
  std::size_t choices = 0, same = 0;
  double percent() const {
    return choices == 0 ? 100 : 100.0 * static_cast<double>(same) / static_cast<double>(choices);
  }
};

Agreement agreement(const Built& first, const Built& second) {
  Agreement found;
  for (std::size_t i = 0; i < first.report.tactics.size(); ++i) {
    const TacticChoice& choice = first.report.tactics[i];
    if (!Times::isChoice(choice)) continue;
    ++found.choices;
    found.same += second.report.tactics[i].tactic == choice.tactic ? 1U : 0U;
  }
  return found;
}

void printDifferences(const Built& first, const Built& second, const std::array<const Times*, 3>& stores) {
  for (std::size_t i = 0; i < first.report.tactics.size(); ++i) {
    const TacticChoice &one = first.report.tactics[i], &other = second.report.tactics[i];
    if (!Times::isChoice(one) || one.tactic == other.tactic) continue;
    std::printf("  %s\n", one.fusedNode.c_str());
    for (const Tactic* tactic : {&*one.tactic, &*other.tactic}) {
      std::printf("    %-44s", tactic->name.c_str());
      for (const Times* store : stores) std::printf(" %14s", text(store->of(one, *tactic)).c_str());
      std::printf("\n");
    }
  }
}

/// The stores of one network: kept where that was asked for.
class Stores {
 public:
  Stores(const std::filesystem::path& network, const std::filesystem::path& kept)
      : m_folder(kept.empty() ? std::filesystem::path(m_temporary / "") : kept), m_stem(network.stem().string()) {
    if (m_stem == "model") m_stem = network.parent_path().filename().string();
  }
  const std::string& name() const { return m_stem; }
  std::filesystem::path of(const std::string& build) const { return m_folder / (m_stem + "." + build + ".sqlite"); }

 private:
  test::TemporaryFolder m_temporary;
  std::filesystem::path m_folder;
  std::string m_stem;
};

void printPair(const Built& first, const Built& second, const Built& warm) {
  const auto differences = noise(first, second);
  std::printf(
      "  %5.1f %% agree, warm %5.1f %%; cold %.0f and %.0f ms, warm %.0f ms; equal kernels differ by %.1f, %.1f and "
      "%.1f %% (median, 95th and 99th of 100)\n",
      agreement(first, second).percent(), agreement(second, warm).percent(), first.ms, second.ms, warm.ms,
      percentOfRank(differences, 0.5), percentOfRank(differences, 0.95), percentOfRank(differences, 0.99));
}

/// Of all builds of one network, each compared with each.
void printSummary(const std::string& name, const std::vector<Built>& builds, const Built& best, const Times& atLength) {
  double mean = 0, least = 100, ratio = 0;
  std::size_t compared = 0, fewest = SIZE_MAX, most = 0;
  int unknown = 0;
  const double ms = atLength.totalOf(best).first;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const auto [total, missing] = atLength.totalOf(builds[i]);
    ratio = std::max(ratio, total / ms);
    unknown += missing;
    fewest = std::min(fewest, conversionsOf(builds[i]));
    most = std::max(most, conversionsOf(builds[i]));
    for (std::size_t k = 0; k < i; ++k, ++compared) {
      const double percent = agreement(builds[k], builds[i]).percent();
      mean += percent;
      least = std::min(least, percent);
    }
  }
  std::printf(
      "%-20s %3zu choices, %5.1f %% agree in the mean of %zu comparisons, %5.1f %% at least; at most %.3f of the "
      "best %.3f ms (%d unknown); %zu to %zu conversions, the best %zu\n",
      name.c_str(), agreement(best, best).choices, mean / static_cast<double>(compared), compared, least, ratio, ms,
      unknown, fewest, most, conversionsOf(best));
}

/// What is found of one network.
Status compare(const std::filesystem::path& path, const Wanted& wanted) {
  const Network network = TRY(planned(path));
  const Stores stores(path, wanted.stores);
  const Built best = TRY(build(network, stores.of("long"), kAtLength));
  const Times atLength = TRY(Times::open(network, stores.of("long")));
  std::vector<Built> builds;
  for (int pair = 0; pair < wanted.pairs; ++pair) {
    const auto firstStore = stores.of("first" + std::to_string(pair)),
               secondStore = stores.of("second" + std::to_string(pair));
    Built first = TRY(build(network, firstStore, 1)), second = TRY(build(network, secondStore, 1));
    printPair(first, second, TRY(build(network, secondStore, 1)));
    if (wanted.differences) {
      const Times firstTimes = TRY(Times::open(network, firstStore)),
                  secondTimes = TRY(Times::open(network, secondStore));
      printDifferences(first, second, {&firstTimes, &secondTimes, &atLength});
    }
    builds.push_back(std::move(first));
    builds.push_back(std::move(second));
  }
  printSummary(stores.name(), builds, best, atLength);
  std::fflush(stdout);
  return Done{};
}

Wanted wantedOf(std::span<char*> arguments) {
  Wanted wanted;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--differences") {
      wanted.differences = true;
    } else if (argument == "--pairs" && i + 1 < arguments.size()) {
      wanted.pairs = std::max(1, std::atoi(arguments[++i]));
    } else if (argument == "--stores" && i + 1 < arguments.size()) {
      wanted.stores = arguments[++i];
    } else {
      wanted.models.emplace_back(argument);
    }
  }
  return wanted;
}

}  // namespace
}  // namespace fusescope

int main(int count, char** arguments) {
  fusescope::setThreads(0);
  const fusescope::Wanted wanted = fusescope::wantedOf(std::span(arguments, static_cast<std::size_t>(count)));
  for (const auto& model : wanted.models) {
    const fusescope::Status status = fusescope::compare(model, wanted);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.error().text().c_str());
    return 1;
  }
  return 0;
}
