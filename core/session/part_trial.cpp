#include "session/part_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/name_hints.h"
#include "engine/engine.h"
#include "ir/graph.h"
#include "onnxlib/edited_network.h"
#include "planning/applicable_options.h"
#include "planning/read_back/read_back_plan.h"
#include "session/build_and_run.h"
#include "session/file_kernels.h"
#include "session/open_artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

constexpr std::array kPartShows{std::pair(PartShows::Difference, "difference"),
                                std::pair(PartShows::Refusal, "refusal"), std::pair(PartShows::Unfused, "unfused")};

std::string fallbackOf(const Plan& plan) {
  std::vector<std::string> names;
  for (const Segment& segment : plan.segments)
    if (segment.kind == SegmentKind::Fallback)
      for (const NodeId node : segment.nodes) names.push_back(plan.graph().node(node).name);
  return names.empty() ? std::string() : "refused: " + listed(names);
}

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

Result<PartTrial::Shown> PartTrial::shown(const std::set<std::size_t>& nodes) {
  const NetworkPart part = TRY(partOfNodes(m_cutter.values(), nodes, m_cutter.facts()));
  const std::vector<InputSpec> specs = inputExtents(m_recorded, part);
  const std::filesystem::path path = m_options.folder / "tried.onnx";
  TRY(onnxlib::writeNetwork(path, TRY(m_cutter.cut(part, m_recorded.types, specs, onnxlib::weightsNameOf(path)))));
  const Outcome outcome = TRY(outcomeOf(m_artifact.plan->options, path, part));
  Shown shown{.isShown = isShown(outcome), .what = inWords(outcome)};
  if (!shown.isShown || !m_options.against) return shown;
  const Outcome other = TRY(outcomeOf(*m_options.against, path, part));
  shown.isShown = isShownAgainst(outcome, other);
  shown.what += fmt::format("; by {}: {}", m_options.against->compiler, inWords(other));
  return shown;
}

Result<PartTrial::Outcome> PartTrial::outcomeOf(const PlanOptions& given, const std::filesystem::path& path,
                                                const NetworkPart& part) {
  Artifact artifact = TRY(openArtifact(path, {}, TRY(optionsFor(given, path)), m_artifact.backend, m_options.run.stop));
  Outcome outcome;
  switch (m_options.shows) {
    case PartShows::Difference:
      TRY(compareOutputs(artifact, part, outcome));
      break;
    case PartShows::Refusal:
      TRY(findRefusals(artifact, part, outcome));
      break;
    case PartShows::Unfused:
      TRY(findKernels(artifact, outcome));
      break;
  }
  return outcome;
}

bool PartTrial::isShown(const Outcome& outcome) const {
  return !outcome.off.empty() || !outcome.refused.empty() || outcome.isUnfused;
}

/// A difference is shown if an output is wrong in `outcome` and close enough in `other`.
bool PartTrial::isShownAgainst(const Outcome& outcome, const Outcome& other) const {
  if (m_options.shows != PartShows::Difference) return !isShown(other);
  return std::ranges::any_of(outcome.off, [&](const auto& each) { return !other.off.contains(each.first); });
}

std::string PartTrial::inWords(const Outcome& outcome) const {
  switch (m_options.shows) {
    case PartShows::Difference:
      return std::isfinite(outcome.worst)
                 ? fmt::format("max|Δ| of {:.3g} rms against the network's own types", outcome.worst)
                 : std::string("values that are not finite, where the network's own types give finite ones");
    case PartShows::Refusal:
      return outcome.refused.empty() ? "nothing is refused" : outcome.refused;
    case PartShows::Unfused:
      return outcome.kernels;
  }
  return {};
}

/// Returns the options of the whole network that apply to the part.
Result<PlanOptions> PartTrial::optionsFor(const PlanOptions& given, const std::filesystem::path& path) const {
  PlanOptions options = given;
  options.support.reset();
  if (options.directives.empty()) return options;
  const auto model = TRY(openModel(path, {}, m_options.run.stop));
  return TRY(applicableOptions(*model, options, m_options.run.stop)).options;
}

std::map<std::string, Tensor> PartTrial::inputsOf(const NetworkPart& part) const {
  std::map<std::string, Tensor> inputs;
  for (const std::string& input : part.inputs) inputs[input] = m_recorded.samples.front().at(input);
  return inputs;
}

BuildOptions PartTrial::buildFor(const Artifact& artifact, const NetworkPart& part) const {
  BuildOptions build = buildOptions(artifact, m_options.run.threads, m_options.run.stop);
  build.measureTactics = false;
  if (!m_recorded.samples.empty()) {
    build.shapes = extentsOf(inputsOf(part));
  } else {
    for (const InputSpec& spec : inputExtents(m_recorded, part)) build.shapes[spec.name] = spec.opt;
  }
  return build;
}

Status PartTrial::compareOutputs(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const {
  const auto engine = TRY(openEngine(artifact, buildFor(artifact, part)));
  const RunResult result = TRY(engine->run(inputsOf(part), {}, m_options.run.stop));
  for (const std::string& output : part.outputs) {
    const auto expected = m_recorded.samples.front().find(output);
    const auto given = result.outputs.find(output);
    if (expected == m_recorded.samples.front().end() || given == result.outputs.end()) continue;
    const TensorComparison compared =
        compareTensors(output, given->second, expected->second, {.rms = m_options.tolerance});
    const bool isNumber = compared.problem.empty() && std::isfinite(compared.maxOverRms);
    const double off = isNumber || compared.ok ? compared.maxOverRms : std::numeric_limits<double>::infinity();
    outcome.worst = std::max(outcome.worst, off);
    if (!compared.ok) outcome.off.emplace(output, off);
  }
  return Done{};
}

Status PartTrial::findRefusals(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const {
  outcome.refused = fallbackOf(*artifact.plan);
  const bool isAsked = !artifact.isOurs() && artifact.compiler().whyNot(Ability::Compile).empty();
  if (!outcome.refused.empty() || !isAsked) return Done{};
  const auto engine = openEngine(artifact, buildFor(artifact, part));
  if (!engine.ok() && engine.error().cancelled) return engine.error();
  outcome.refused = engine.ok() ? fallbackOf(engine.value()->plan()) : engine.error().text();
  return Done{};
}

Status PartTrial::findKernels(Artifact& artifact, Outcome& outcome) const {
  if (!artifact.isOurs()) TRY(readBack(artifact, buildOptions(artifact, m_options.run.threads, m_options.run.stop)));
  const FileKernels byNode(artifact.cover());
  std::array<std::set<std::string>, 2> kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i] = byNode.namesOf(m_options.together[i]);
    if (kernels[i].empty())
      return Diagnostic{.message = "no kernel contains it: it falls back, no node calculates it, or it was folded",
                        .where = {.node = m_options.together[i], .attribute = "--nodes"},
                        .help = "Name two nodes that are in kernels."};
  }
  outcome.isUnfused =
      std::ranges::none_of(kernels[0], [&](const std::string& kernel) { return kernels[1].contains(kernel); });
  const auto nameOf = [](const std::set<std::string>& of) { return "'" + *of.begin() + "'"; };
  outcome.kernels = outcome.isUnfused ? fmt::format("{} is in {}, {} in {}", m_options.together[0], nameOf(kernels[0]),
                                                    m_options.together[1], nameOf(kernels[1]))
                                      : std::string("both are in one kernel");
  return Done{};
}

}  // namespace fusescope
