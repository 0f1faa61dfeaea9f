#include "app/cli/command.h"
#include "session/extract.h"

#include <fmt/format.h>

#include <iostream>
#include <set>
#include <tuple>

#include "base/temporary_folder.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/minimal_part.h"
#include "session/operations/extract_operation.h"

namespace fusescope::cli {
namespace {

using Names = std::vector<std::string>;

using ExtractArguments = ArgumentsOf<ExtractSettings>;

std::string listOf(const std::vector<PartValue>& values) {
  std::vector<std::string> texts;
  for (const PartValue& value : values) texts.push_back(fmt::format("{} {}", value.name, value.type.text()));
  return texts.empty() ? "none" : joined(texts);
}

void printForPeople(const ExtractedPart& part, const std::string& output) {
  std::cout << fmt::format("{}: {} of the network\n", output, counted(std::ssize(part.nodes), "node"));
  if (!part.constantNodes.empty())
    std::cout << fmt::format("  {} of them calculate weights and extents for the others\n", part.constantNodes.size());
  std::cout << fmt::format("inputs: {}\noutputs: {}\n", listOf(part.inputs), listOf(part.outputs));
  if (!part.frozen.empty()) std::cout << fmt::format("constants of the network: {}\n", joined(part.frozen));
  if (!part.whyNoValues.empty()) {
    std::cout << fmt::format("without values: {}\n", part.whyNoValues);
  } else {
    std::cout << fmt::format(
        "run on {}, the part gives {}\n",
        part.randomInputs ? std::string("random inputs of the network") : counted(std::ssize(part.samples), "sample"),
        part.identical ? std::string("exactly the results of the whole network")
                       : fmt::format("the results of the whole network, except for max|Δ| {:.2g} of rms",
                                     worstOverRms(part.outputsAgainstWhole)));
  }
  for (const Directive& directive : part.leftOut)
    std::cout << fmt::format("does not apply to this part: {}\n", optionText(directive));
  for (std::size_t i = 1; i < part.files.size(); ++i)
    std::cout << fmt::format("beside it: {}\n", part.files[i].string());
}

/// Returns the nodes among which the smallest part is searched: those that the user named, or else all nodes.
Result<std::set<std::size_t>> searchedNodes(const ExtractArguments& arguments, const Artifact& artifact,
                                            const NetworkCutter& cutter, PartShows shows) {
  std::set<std::size_t> all;
  const bool isNamed =
      arguments.selection.isByValues() || (arguments.selection.isByNodes() && shows != PartShows::Unfused);
  if (isNamed) return TRY(chosenPart(cutter, artifact.cover(), arguments.selection)).nodes;
  for (std::size_t node = 0; node < cutter.values().graph().nodes.size(); ++node) all.insert(node);
  return all;
}

std::string inWords(PartShows shows) {
  switch (shows) {
    case PartShows::Difference:
      return "a difference";
    case PartShows::Refusal:
      return "a refusal";
    case PartShows::Unfused:
      return "that the two nodes are unfused";
  }
  return {};
}

/// Describes what is searched for, and what the results are compared with.
std::string inWords(const MinimalOptions& options) {
  const std::string shown = inWords(options.shows);
  return options.against ? fmt::format("{} that {} does not show", shown, options.against->compiler) : shown;
}

/// Says how certain it is that no smaller part exists.
std::string_view howSmall(const MinimalPart& minimal) {
  if (!minimal.minimal) return "a smaller part may exist: the search was ended by its budget";
  return minimal.smallest
             ? "no part of fewer connected nodes shows it, and none of its nodes can be left out: each was tried"
             : "none of its nodes can be left out: each was tried. A part of fewer nodes elsewhere may show it: not "
               "all were tried; a larger --trials or --budget allows more";
}

void printMinimal(const MinimalPart& minimal, const MinimalOptions& options) {
  std::cout << fmt::format("{} part that shows {}: {} of {} ({})\n", minimal.smallest ? "smallest" : "small",
                           inWords(options), minimal.nodes.size(), counted(minimal.of, "node"), minimal.what);
  std::cout << fmt::format("{}, {:.1f} s; {}\n", counted(minimal.trials, "part") + " tried", minimal.seconds,
                           howSmall(minimal));
}

/// Returns the options of the plan changed for the other compiler and its target.
Result<std::optional<PlanOptions>> otherOptions(const ExtractArguments& arguments, const Plan& plan) {
  if (arguments.against.empty()) return std::optional<PlanOptions>();
  const auto inTermsOfOption = [](Diagnostic error) {
    error.where.attribute = "--against";
    return error;
  };
  PlanArguments named;
  named.compiler = arguments.against;
  const PlanOptions other = TRY(named.options());
  if (other.compiler == plan.options.compiler)
    return Diagnostic{
        .message = fmt::format("{} is already the compiler of the network", other.compiler),
        .where = {.attribute = "--against"},
        .help = "Name another compiler: the search is for a part for which that one does not show the problem."};
  PlanOptions options = plan.options;
  options.compiler = other.compiler;
  options.target = other.target;
  options.compilerOptions.clear();
  options.support.reset();
  const auto compiler = compilerFor(options);
  if (!compiler.ok()) return inTermsOfOption(compiler.error());
  const bool isDifference = arguments.minimal == name(PartShows::Difference);
  const Status able = checkAble(*compiler.value(), isDifference ? Ability::Run : Ability::Compile,
                                isDifference ? "run a network" : "compile a network");
  if (!able.ok()) return inTermsOfOption(able.error());
  return std::optional(std::move(options));
}

/// Finds the smallest part that shows the problem. Returns nullopt if not even all nodes together show it.
Result<std::optional<std::pair<NetworkPart, Json>>> smallestPart(const ExtractArguments& arguments,
                                                                 const Artifact& artifact, const NetworkCutter& cutter,
                                                                 const Samples& samples) {
  using Found = std::optional<std::pair<NetworkPart, Json>>;
  const PartShows shows = *partShowsFromName(arguments.minimal);
  const std::filesystem::path path = arguments.output;
  const auto folder = TRY(TemporaryFolder::in(path.parent_path(), "." + path.filename().string() + ".searching"));
  const MinimalOptions options{
      .shows = shows,
      .tolerance = arguments.rms,
      .together = shows == PartShows::Unfused ? arguments.selection.nodes : Names(),
      .trials = arguments.trials,
      .seconds = arguments.seconds,
      .against = TRY(otherOptions(arguments, *artifact.plan)),
      .folder = folder.path(),
      .run = {.backend = arguments.engine.backend, .threads = arguments.engine.threads, .progress = progressLine()}};
  const auto among = TRY(searchedNodes(arguments, artifact, cutter, shows));
  auto searched = minimalPart(artifact, cutter, among, samples, options);
  clearProgressLine();
  const MinimalPart minimal = TRY(std::move(searched));
  if (minimal.end == CulpritEnd::NoCulprit) {
    std::cerr << fmt::format("fusescope: all of the nodes together do not show {}\n", inWords(options));
    if (arguments.json)
      printJson({{"format", "fusescope.part"}, {"version", 1}, {"minimal", toJson(minimal, options, cutter)}});
    return Found();
  }
  if (!arguments.json) printMinimal(minimal, options);
  return Found(
      std::pair(TRY(partOfNodes(cutter.values(), minimal.nodes, cutter.facts())), toJson(minimal, options, cutter)));
}

Result<int> extract(const ExtractArguments& arguments) {
  Artifact artifact = TRY(open(arguments.path, arguments.plan));
  TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  const bool isOfKernels = !arguments.selection.kernels.empty() || !arguments.selection.segments.empty();
  if (isOfKernels && !artifact.isOurs()) TRY(readBack(artifact));
  const int status = reportUnobeyedPins(artifact.cover()) ? kDoesNotHold : kDone;
  const Samples samples = TRY(arguments.inputs.samples(artifact));
  const ExtractOptions options{
      .path = arguments.output,
      .run = {.backend = arguments.engine.backend, .threads = arguments.engine.threads, .progress = progressLine()}};
  const NetworkCutter cutter = TRY(NetworkCutter::open(*artifact.plan, {}));
  NetworkPart chosen;
  Json minimal;
  if (arguments.minimal.empty()) {
    chosen = TRY(chosenPart(cutter, artifact.cover(), arguments.selection));
  } else {
    const auto smallest = TRY(smallestPart(arguments, artifact, cutter, samples));
    if (!smallest) return kDoesNotHold;
    std::tie(chosen, minimal) = *smallest;
  }
  auto extracted = extractPart(cutter, *artifact.plan, chosen, &samples, options);
  clearProgressLine();
  const ExtractedPart part = TRY(std::move(extracted));
  for (const auto& file : part.files)
    TRY(checkOutput(file.string(), "--output", artifact, arguments.inputs.source(artifact),
                    {arguments.plan.directivesFile, arguments.plan.rangesFile, arguments.plan.session}));
  TRY(part.save());
  for (const std::string& note : part.notes) std::cerr << fmt::format("fusescope: warning: {}\n", note);
  for (const auto& file : part.left)
    std::cerr << fmt::format("fusescope: warning: '{}' belongs to an earlier part of that name\n", file.string());
  if (!arguments.json) {
    printForPeople(part, arguments.output);
    return status;
  }
  Json json = toJson(part, arguments.output);
  if (!minimal.is_null()) json["minimal"] = minimal;
  printJson(json);
  return status;
}

}  // namespace

Command extractCommand(CLI::App& app) {
  return commandOf<ExtractSettings>(app, extractOperation(), extract);
}

}  // namespace fusescope::cli
