#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/compare_runs.h"
#include "app/cli/read_back.h"
#include "app/cli/side_arguments.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/compare.h"
#include "session/compare_engine_files.h"
#include "session/documents/compare_report.h"
#include "session/operations/compare_operation.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

std::string kernelsText(const std::vector<CoveringNode>& kernels) {
  std::vector<std::string> names;
  for (const CoveringNode& kernel : kernels) names.push_back(kernel.place.text());
  return shortened(joined(names, " | "), 48);
}

void printSide(const char* name, const EngineFilesSide& side) {
  std::cout << fmt::format("{} {}, {}: kernels {}, {} {}{}; times are {}\n", name, side.compiler,
                           side.device.empty() ? "on a device that the files do not name" : side.device,
                           msText(side.kernelsMs), counted(side.conversions, "conversion"), msText(side.conversionsMs),
                           side.latencyMs ? ", a run " + msText(side.latencyMs) : std::string(),
                           side.times.empty() ? "not stated in the files" : side.times);
}

void printTotals(const EngineFilesComparison& comparison) {
  const EngineFilesTotals& totals = comparison.totals;
  const auto apart = [](const std::optional<double>& a, const std::optional<double>& b) {
    return msApartText(a && b ? std::optional(*b - *a) : std::nullopt);
  };
  std::cout << fmt::format("groups with times on both sides: A {}, B {}, B - A {}; only in A {}, only in B {}\n",
                           msText(totals.aMs), msText(totals.bMs), apart(totals.aMs, totals.bMs),
                           msText(totals.onlyAMs), msText(totals.onlyBMs));
  std::cout << fmt::format("conversions: A {}, B {}, B - A {}\n", msText(comparison.a.conversionsMs),
                           msText(comparison.b.conversionsMs),
                           apart(comparison.a.conversionsMs, comparison.b.conversionsMs));
}

/// Prints two plans that were read from files of engines side by side, with the times in these files.
Result<int> compareFilesOfEngines(const Artifact& a, const Artifact& b, bool json) {
  const EngineFilesComparison comparison = compareEngineFiles(*a.made, *b.made);
  if (json) {
    printJson(toJson(comparison));
    return kDone;
  }
  const bool haveNetworks = comparison.a.hasNetwork && comparison.b.hasNetwork;
  printTitle(haveNetworks ? "Groups of kernels that cover the same nodes of the file"
                          : "Groups of kernels that do the same, according to their layers");
  Table table({{"A"}, {"B"}, {"nodes", true}, {"A time", true}, {"B time", true}, {"B - A", true}});
  for (const CompareGroup& group : comparison.groups)
    table.add({kernelsText(group.a), group.same && haveNetworks ? "the same" : kernelsText(group.b),
               std::to_string(group.origins.size()), msText(group.aMs), msText(group.bMs), msApartText(group.deltaMs)});
  table.print();
  std::cout << "read from files; nothing was run here\n" << comparison.matchedBy << "\n";
  printTotals(comparison);
  printSide("A", comparison.a);
  printSide("B", comparison.b);
  if (!comparison.notRanked.empty()) std::cout << "which is faster is unknown: " << comparison.notRanked << "\n";
  return kDone;
}

/// The number of inner values that are printed for people; those that differ most come first. --json lists all of them.
constexpr std::size_t kMostValues = 10;

using CompareArguments = ArgumentsOf<CompareSettings>;

std::string namesText(const std::vector<CoveringNode>& nodes) {
  std::vector<std::string> names;
  for (const CoveringNode& node : nodes) names.push_back(node.place.text());
  return shortened(joined(names, " | "), 40);
}

std::string deltaRangeText(const std::optional<Range>& range) {
  return range ? msApartText(range->least) + " to " + msApartText(range->most) : "-";
}

/// Prints the ratio of the two total times, whether the rounds of the measurement agree about it, and the types if they
/// differ: times of other types compare other calculations.
void printRatio(const CompareReport& report) {
  if (!report.aMs || !report.bMs || !report.ratioRange || *report.aMs <= 0) return;
  const Range& range = *report.ratioRange;
  std::cout << fmt::format("B takes {:.3f} of A's time ({:.3f} to {:.3f} over {} turns){}{}\n",
                           *report.bMs / *report.aMs, range.least, range.most, report.turns,
                           range.isSignificant(1) ? "" : ": the difference is within the spread of the turns",
                           typesClause(report.differences));
}

void printErrors(std::string_view title, const std::vector<TensorComparison>& comparisons) {
  if (comparisons.empty()) return;
  printTitle(title);
  Table table({{"name"}, {"max |Δ|", true}, {"max |Δ| / rms", true}, {"cosine", true}, {"problem"}});
  for (const auto& comparison : comparisons) {
    // "-": was not compared.
    const auto number = [&](std::string text) { return comparison.problem.empty() ? text : "-"; };
    table.add({shortened(comparison.name), number(fmt::format("{:.4g}", comparison.maxAbs)),
               number(fmt::format("{:.4g}", comparison.maxOverRms)), number(cosineText(comparison.cosine, 9)),
               comparison.problem});
  }
  table.print();
}

void printForPeople(const CompareReport& report) {
  printTitle("Groups of fused nodes that cover the same nodes of the file");
  Table groups(
      {{"A"}, {"B"}, {"nodes", true}, {"A time", true}, {"B time", true}, {"B - A", true}, {"in the turns", true}});
  // Counts fused nodes of the network itself; those in bodies belong to their holders.
  std::size_t same = 0, different = 0;
  for (const auto& group : report.groups) {
    if (group.body.isNetwork()) (group.same ? same : different) += 1;
    groups.add({namesText(group.a), group.same ? "the same" : namesText(group.b), std::to_string(group.origins.size()),
                msText(group.aMs), msText(group.bMs), msApartText(group.deltaMs), deltaRangeText(group.deltaRangeMs)});
  }
  groups.print();
  printErrors("Outputs, B against A", report.outputs);
  auto values = report.values;
  std::ranges::stable_sort(values, std::ranges::greater(), &TensorComparison::maxOverRms);
  if (values.size() > kMostValues) values.resize(kMostValues);
  printErrors(fmt::format("Inner values that differ most, of {} that both have", report.values.size()), values);
  std::cout << fmt::format("A {}: {}; B {}: {}; {} of {} groups are the same\n", report.a, msText(report.aMs), report.b,
                           msText(report.bMs), same, same + different);
  if (report.valuesInBodies > 0)
    std::cout << fmt::format("not compared: {} in bodies, which exist once for each call\n",
                             counted(report.valuesInBodies, "value"));
  std::cout << fmt::format("A by {} on {}; B by {} on {}\n", report.compilerOfA, counted(report.threadsOfA, "thread"),
                           report.compilerOfB, counted(report.threadsOfB, "thread"));
  if (const std::string differences = differencesText(report.differences); !differences.empty())
    std::cout << differences << "\n";
  printRatio(report);
  if (!report.notRanked.empty()) std::cout << "which is faster is unknown: " << report.notRanked << "\n";
  if (!report.timeUnavailable.empty()) std::cout << "time unavailable: " << report.timeUnavailable << "\n";
  if (!report.groupsUnavailable.empty())
    std::cout << "times of some groups are unavailable: " << report.groupsUnavailable << "\n";
}

Result<int> compare(const CompareArguments& arguments, const Artifact& a, const Artifact& b) {
  const auto samples = TRY(arguments.inputs.samples(a));
  const auto engineOf = [&](const Artifact& artifact) {
    auto options = buildOptions(artifact, arguments.engine.threads, {}, progressLine());
    options.effortSeconds = arguments.effort;
    options.shapes = extentsOf(samples.first());
    return openEngine(artifact, options);
  };
  const auto engineA = TRY(engineOf(a));
  const auto engineB = TRY(engineOf(b));
  clearProgressLine();
  const bool isUnobeyedByA = reportUnobeyedPins(*engineA->made());
  if (reportUnobeyedPins(*engineB->made()) || isUnobeyedByA) return kDoesNotHold;
  auto report = TRY(compareEngines(*engineA, *engineB, samples, arguments.seconds, {}, progressLine()));
  clearProgressLine();
  report.a = arguments.a;
  report.b = arguments.others.front();
  if (arguments.json) {
    Json json = toJson(report);
    addSamples(json, samples);
    printJson(json);
  } else {
    printForPeople(report);
    printRemarksAboutEngine(*engineA, "A: ");
    printRemarksAboutEngine(*engineB, "B: ");
    printAboutInputs(samples);
  }
  return kDone;
}

Result<int> compare(const CompareArguments& arguments) {
  const auto a =
      TRY(open(arguments.a, TRY(planArguments(arguments.plan, arguments.planOfA, "--plan-a")), &arguments.engine));
  const auto b = TRY(open(arguments.others.front(), TRY(planArguments(arguments.plan, arguments.planOfB, "--plan-b")),
                          &arguments.engine));
  if (isOfEngineFiles(a) && isOfEngineFiles(b)) return compareFilesOfEngines(a, b, arguments.json);
  for (const Artifact* side : {&a, &b}) {
    if (isOfEngineFiles(*side))
      return Diagnostic{.message = "this plan was read from files of an engine, which cannot be run here",
                        .where = {.file = side->path},
                        .help = "Compare it with another engine's files, or use: fusescope diff A B."};
    TRY(checkAble(*side, Ability::Run, "run a network"));
    if (arguments.seconds > 0) TRY(checkAble(*side, Ability::Time, "time a network"));
  }
  const bool refusedA = reportObeyRefusals(*a.plan);
  if (reportObeyRefusals(*b.plan) || refusedA) return kDoesNotHold;
  return underAssumedExtents(compare(arguments, a, b), *a.plan, !arguments.inputs.source(a).empty());
}

/// Compares two networks by running them in turns, or two runs of a session by the results that it contains.
Result<int> compareGiven(const CompareArguments& arguments) {
  std::error_code error;
  const bool ofSession = std::filesystem::is_regular_file(arguments.a, error) && isSessionFile(arguments.a);
  if (ofSession && !std::filesystem::exists(arguments.others.front(), error))
    return compareRuns(arguments.a, arguments.others, arguments.blocks, arguments.json);
  if (arguments.others.size() > 1)
    return Diagnostic{.message = "only two files can be timed in turns",
                      .where = {.attribute = arguments.others[1]},
                      .help = "More than two can be compared as runs of a session: compare F.fsession 1 2 3."};
  return compare(arguments);
}

}  // namespace

Command compareCommand(CLI::App& app) {
  return commandOf<CompareSettings>(app, compareOperation(), compareGiven);
}

}  // namespace fusescope::cli
