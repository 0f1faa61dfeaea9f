#include "session/minimal_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/elapsed.h"
#include "base/name_hints.h"
#include "engine/engine.h"
#include "interchange/export_steps.h"
#include "planning/applicable_options.h"
#include "planning/read_back_plan.h"
#include "session/file_kernels.h"
#include "session/operations.h"
#include "tuning/deadline.h"

namespace fusescope {
namespace {

constexpr std::array kPartShows{std::pair(PartShows::Difference, "difference"),
                                std::pair(PartShows::Refusal, "refusal"), std::pair(PartShows::Unfused, "unfused")};

/// All values that nodes of a file make of data, and its inputs.
std::vector<std::string> valuesToRecord(const NetworkCutter& cutter, const std::set<std::size_t>& among) {
  std::set<std::string> names;
  const FileValues& values = cutter.values();
  for (const std::size_t node : among) {
    for (const std::string& read : values.reads(node))
      if (values.depends(read) != FileValues::Depends::Weights && !values.isWeight(read)) names.insert(read);
    for (const std::string& output : values.graph().nodes[node].outputs)
      if (!output.empty() && values.depends(output) != FileValues::Depends::Weights) names.insert(output);
  }
  return {names.begin(), names.end()};
}

class MinimalSearch {
 public:
  MinimalSearch(const Artifact& artifact, const NetworkCutter& cutter, const std::set<std::size_t>& among,
                const Samples& samples, const MinimalOptions& options)
      : m_artifact(artifact), m_cutter(cutter), m_options(options), m_open(among.begin(), among.end()) {
    m_samples.list = {samples.list.front()};
    m_samples.random = samples.random;
  }

  Result<MinimalPart> run() {
    TRY(holdTogether());
    std::set<std::size_t> all(m_open.begin(), m_open.end());
    all.insert(m_held.begin(), m_held.end());
    TRY(record(all));
    Deadline deadline(m_options.run.stop);
    if (m_options.seconds > 0) deadline.endAfter(m_options.seconds);
    const auto start = std::chrono::steady_clock::now();
    const auto shows = [&](const SwitchSet& chosen) -> Result<double> {
      TRY(checkStop(deadline.token()));
      return TRY(isShown(nodesOf(chosen))) ? 0.0 : 1.0;
    };
    const std::int64_t ofNothing = m_held.empty() ? 1 : 0;  // the search begins with no node, which is no trial
    const std::int64_t builds = m_options.trials > 0 ? m_options.trials + ofNothing : 0;
    const Culprits found = TRY(findCulprits(static_cast<std::uint32_t>(m_open.size()), shows,
                                            {.tolerance = 0.5, .builds = builds, .stop = deadline.token()}));
    TRY(checkStop(m_options.run.stop));
    if (found.end == CulpritEnd::OutOfBudget && !m_shown.contains(nodesOf(found.off)))
      return Diagnostic{.message = "the budget was over before it was known that all of the nodes show it",
                        .where = {.attribute = "--minimal"},
                        .help = "Give it more with --budget or --trials."};
    MinimalPart part{
        .end = found.end, .minimal = found.minimal, .of = std::ssize(all), .trials = found.builds - ofNothing};
    part.seconds = msSince(start) / 1000;
    if (found.end == CulpritEnd::NotWrong) part.end = CulpritEnd::Found;  // the two nodes alone
    if (part.end == CulpritEnd::NoCulprit) return part;
    part.nodes = nodesOf(part.end == CulpritEnd::Found && found.end == CulpritEnd::NotWrong ? SwitchSet() : found.off);
    part.minimal |= found.end == CulpritEnd::NotWrong;
    if (const auto what = m_what.find(part.nodes); what != m_what.end()) part.what = what->second;
    return part;
  }

 private:
  /// The nodes that every part holds are no switches.
  Status holdTogether() {
    if (m_options.shows != PartShows::Unfused) return Done{};
    if (m_options.together.size() != 2)
      return Diagnostic{.message = "which two nodes are in no kernel together is missing",
                        .where = {.attribute = "--nodes"},
                        .help = "Name both: --nodes A --nodes B."};
    const auto& origins = m_cutter.model().origins;
    for (const std::string& node : m_options.together) {
      const auto found = std::ranges::find(origins, node, &Origin::name);
      if (found == origins.end()) {
        std::vector<std::string> names;
        for (const Origin& origin : origins) names.push_back(origin.name);
        return Diagnostic{.message = "the network has no such node",
                          .where = {.node = node, .attribute = "--nodes"},
                          .help = nearestInWords(node, names, "Nodes are named as 'plan --original' lists them.")};
      }
      m_held.insert(static_cast<std::size_t>(found - origins.begin()));
    }
    std::erase_if(m_open, [&](std::size_t node) { return m_held.contains(node); });
    return Done{};
  }

  /// Only a difference needs values: of a network that cannot be run, extents do for the others.
  Status record(const std::set<std::size_t>& nodes) {
    const auto with = [&](const Samples* samples) {
      return recordValues(m_cutter, *m_artifact.plan, valuesToRecord(m_cutter, nodes), samples, m_options.folder,
                          m_options.run);
    };
    auto recorded = with(&m_samples);
    const bool isNeeded = m_options.shows == PartShows::Difference;
    if (!recorded.ok() && !recorded.error().cancelled && !isNeeded) recorded = with(nullptr);
    if (!recorded.ok()) return located(recorded.error(), m_options.folder, m_cutter.source());
    m_recorded = std::move(recorded).value();
    return Done{};
  }

  std::set<std::size_t> nodesOf(const SwitchSet& chosen) const {
    std::set<std::size_t> nodes = m_held;
    for (const std::uint32_t index : chosen) nodes.insert(m_open[index]);
    return nodes;
  }

  /// Whether the part of these nodes shows it. A part that cannot be made, planned or given values shows nothing; that
  /// all of the nodes cannot is an error.
  Result<bool> isShown(const std::set<std::size_t>& nodes) {
    if (nodes.empty()) return false;
    auto shown = tried(nodes);
    const bool isWhole = nodes.size() == m_open.size() + m_held.size();
    if (!shown.ok() && (isWhole || shown.error().cancelled))
      return located(shown.error(), m_options.folder, m_cutter.source());
    if (!shown.ok() || !shown.value()) return false;
    m_shown.insert(nodes);
    return true;
  }

  Result<bool> tried(const std::set<std::size_t>& nodes) {
    if (m_options.run.progress) m_options.run.progress("part", fmt::format("{} nodes", nodes.size()));
    const NetworkPart part = TRY(partOfNodes(m_cutter.values(), nodes, m_cutter.facts()));
    const std::vector<InputSpec> specs = inputExtents(m_recorded, part);
    const std::filesystem::path path = m_options.folder / "tried.onnx";
    TRY(onnxlib::writeNetwork(path, TRY(m_cutter.cut(part, m_recorded.types, specs, onnxlib::weightsNameOf(path)))));
    Artifact artifact = TRY(openArtifact(path, {}, TRY(optionsFor(path)), m_artifact.backend, m_options.run.stop));
    switch (m_options.shows) {
      case PartShows::Difference:
        return differs(artifact, part, nodes);
      case PartShows::Refusal:
        return isRefused(artifact, part, nodes);
      case PartShows::Unfused:
        return isUnfused(artifact, nodes);
    }
    return false;
  }

  /// The wishes of the whole that apply to the part.
  Result<PlanOptions> optionsFor(const std::filesystem::path& path) const {
    PlanOptions options = m_artifact.plan->options;
    options.support.reset();
    if (options.directives.empty()) return options;
    const auto model = TRY(openModel(path, {}, m_options.run.stop));
    return TRY(applicableOptions(*model, options, m_options.run.stop)).options;
  }

  std::map<std::string, Tensor> inputsOf(const NetworkPart& part) const {
    std::map<std::string, Tensor> inputs;
    for (const std::string& input : part.inputs) inputs[input] = m_recorded.samples.front().at(input);
    return inputs;
  }

  BuildOptions buildFor(const Artifact& artifact, const NetworkPart& part) const {
    BuildOptions build = buildOptions(artifact, m_options.run.threads, m_options.run.stop);
    build.measureTactics = false;
    if (!m_recorded.samples.empty()) {
      build.shapes = extentsOf(inputsOf(part));
    } else {
      for (const InputSpec& spec : inputExtents(m_recorded, part)) build.shapes[spec.name] = spec.opt;
    }
    return build;
  }

  Result<bool> differs(const Artifact& artifact, const NetworkPart& part, const std::set<std::size_t>& nodes) {
    const auto engine = TRY(openEngine(artifact, buildFor(artifact, part)));
    const RunResult result = TRY(engine->run(inputsOf(part), {}, m_options.run.stop));
    double worst = 0;
    for (const std::string& output : part.outputs) {
      const auto expected = m_recorded.samples.front().find(output);
      const auto given = result.outputs.find(output);
      if (expected == m_recorded.samples.front().end() || given == result.outputs.end()) continue;
      const TensorComparison compared =
          compareTensors(output, given->second, expected->second, {.rms = m_options.tolerance});
      if (compared.ok) continue;
      worst = std::max(worst, compared.problem.empty() && std::isfinite(compared.maxOverRms)
                                  ? compared.maxOverRms
                                  : std::numeric_limits<double>::infinity());
    }
    m_what[nodes] = std::isfinite(worst) ? fmt::format("max|Δ| of {:.3g} rms against the network's own types", worst)
                                         : std::string("what is not finite, where the network's own types are");
    return worst > 0;
  }

  static std::string fallbackOf(const Plan& plan) {
    std::vector<std::string> names;
    for (const Segment& segment : plan.segments)
      if (segment.kind == SegmentKind::Fallback)
        for (const NodeId node : segment.nodes) names.push_back(plan.graph().node(node).name);
    return names.empty() ? std::string() : "refused: " + listed(names);
  }

  Result<bool> isRefused(const Artifact& artifact, const NetworkPart& part, const std::set<std::size_t>& nodes) {
    std::string what = fallbackOf(*artifact.plan);
    if (what.empty() && !artifact.isOurs() && artifact.compiler().whyNot(Ability::Compile).empty()) {
      const auto engine = openEngine(artifact, buildFor(artifact, part));
      if (!engine.ok() && engine.error().cancelled) return engine.error();
      what = engine.ok() ? fallbackOf(engine.value()->plan()) : engine.error().text();
    }
    m_what[nodes] = what;
    return !what.empty();
  }

  Result<bool> isUnfused(Artifact& artifact, const std::set<std::size_t>& nodes) {
    if (!artifact.isOurs()) TRY(readBack(artifact, buildOptions(artifact, m_options.run.threads, m_options.run.stop)));
    const Cover& cover = artifact.cover();
    const FileKernels byNode(cover);
    std::array<std::set<std::string>, 2> kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      kernels[i] = byNode.namesOf(m_options.together[i]);
      if (kernels[i].empty())
        return Diagnostic{.message = "it is in no kernel: it falls back, nothing calculates it, or it was folded",
                          .where = {.node = m_options.together[i], .attribute = "--nodes"},
                          .help = "Name two nodes that kernels calculate."};
    }
    const bool isTogether =
        std::ranges::any_of(kernels[0], [&](const std::string& kernel) { return kernels[1].contains(kernel); });
    const auto nameOf = [](const std::set<std::string>& of) { return "'" + *of.begin() + "'"; };
    m_what[nodes] = fmt::format("{} is in {}, {} in {}", m_options.together[0], nameOf(kernels[0]),
                                m_options.together[1], nameOf(kernels[1]));
    return !isTogether;
  }

  const Artifact& m_artifact;
  const NetworkCutter& m_cutter;
  const MinimalOptions& m_options;
  std::vector<std::size_t> m_open;  ///< the switches: nodes that a part may do without
  std::set<std::size_t> m_held;
  Samples m_samples;
  RecordedValues m_recorded;
  std::map<std::set<std::size_t>, std::string> m_what;
  std::set<std::set<std::size_t>> m_shown;  ///< parts that are known to show it
};

}  // namespace

std::string_view name(PartShows shows) {
  return std::ranges::find(kPartShows, shows, &decltype(kPartShows)::value_type::first)->second;
}

std::optional<PartShows> partShowsFromName(std::string_view name) {
  for (const auto& [shows, known] : kPartShows)
    if (name == known) return shows;
  return std::nullopt;
}

std::vector<std::string> partShowsNames() {
  std::vector<std::string> names;
  for (const auto& [shows, name] : kPartShows) names.emplace_back(name);
  return names;
}

Result<MinimalPart> minimalPart(const Artifact& artifact, const NetworkCutter& cutter,
                                const std::set<std::size_t>& among, const Samples& samples,
                                const MinimalOptions& options) {
  return MinimalSearch(artifact, cutter, among, samples, options).run();
}

Json toJson(const MinimalPart& part, const MinimalOptions& options, const NetworkCutter& cutter) {
  return {{"shows", name(options.shows)},
          {"end", name(part.end)},
          {"minimal", part.minimal},
          {"nodes", cutter.nodeNames(part.nodes)},
          {"of", part.of},
          {"trials", part.trials},
          {"seconds", part.seconds},
          {"what", part.what}};
}

}  // namespace fusescope
