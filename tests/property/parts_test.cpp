// Parts that are cut out of random networks give what the whole has there, and networks with substitutions what they
// gave before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "frontends/onnx_writer.h"
#include "interchange/npz.h"
#include "interchange/substitutions/substitution.h"
#include "passes/pipelines.h"
#include "session/extract.h"
#include "session/inputs/load_samples.h"
#include "session/open_artifact.h"
#include "session/replace.h"
#include "tests/property/graph_maker.h"
#include "tests/property/hard_names.h"
#include "tests/property/seeds.h"
#include "tests/support/paths.h"

namespace fusescope::property {
namespace {

struct Counts {
  int networks = 0, parts = 0, nodes = 0, identical = 0, withBodies = 0, replaced = 0;
};

/// Some nodes of the network: a stretch of its order, with holes now and then, or values from which to which.
PartSelection selectionFor(const Model& model, Dice& dice) {
  const Graph& graph = *model.graph;
  PartSelection selection;
  const auto& order = graph.order();
  const std::size_t first = dice.below(order.size()), count = 1 + dice.below(order.size() - first);
  for (std::size_t i = first; i < first + count; ++i)
    if (i == first || !dice.oneIn(5)) selection.nodes.push_back(graph.node(order[i]).name);
  return selection;
}

/// The file of a random network; empty: it could not be made.
std::filesystem::path fileOf(std::uint64_t seed, Dice& dice, const test::TemporaryFolder& folder, NetworkKind kind) {
  kind.bodies = dice.oneIn(3) ? 2 : 0;
  const auto made = GraphMaker(seed, kind).make(4 + dice.below(25));
  if (made == nullptr) return {};
  const auto bytes = onnxBytes(*made->graph);
  return bytes.ok() ? folder.write("whole.onnx", bytes.value()) : std::filesystem::path();
}

/// What stands on the disk runs, and gives what is beside it.
std::string checkWritten(const std::filesystem::path& path) {
  const auto artifact = openArtifact(path, {}, {});
  if (!artifact.ok()) return "the part: " + artifact.error().text();
  const auto samples = loadSamples(*artifact.value().plan, {.paths = {valuesPathOf(path, 0).string()}});
  if (!samples.ok()) return "its values: " + samples.error().text();
  const auto given = runOnSamples(artifact.value().plan->model, samples.value(), {.threads = 1});
  if (!given.ok()) return "the part does not run: " + given.error().text();
  const auto arrays = readNpz(valuesPathOf(path, 0));
  if (!arrays.ok()) return arrays.error().text();
  const auto wanted = outputsFrom(arrays.value());
  if (wanted.empty()) return "no output of the part was recorded";
  for (const TensorComparison& output : compareAll(given.value().front(), wanted, Tolerance::standard()))
    if (!output.ok) return fmt::format("{}: {} {}", output.name, output.problem, output.maxOverRms);
  return {};
}

std::string checkPart(std::uint64_t seed, Counts& counts, const test::TemporaryFolder& folder) {
  Dice dice(seed * 49'979'687 + 11);
  const auto path = fileOf(seed, dice, folder, {});
  if (path.empty()) return "the network could not be made";
  const auto artifact = openArtifact(path, {}, {});
  if (!artifact.ok()) return artifact.error().text();
  const Plan& plan = *artifact.value().plan;
  if (plan.graph().nodeCount() == 0) return {};
  ++counts.networks;
  const auto samples = loadSamples(plan, {});
  if (!samples.ok()) return samples.error().text();
  const PartSelection selection = selectionFor(*plan.model, dice);
  const ExtractOptions options{.path = folder / "part.onnx", .run = {.threads = 1}};
  const auto part = extractPart(artifact.value(), selection, &samples.value(), options);
  if (!part.ok()) return "not cut out: " + part.error().text();
  if (!part.value().whyNoValues.empty()) return "not recorded: " + part.value().whyNoValues;
  ++counts.parts;
  counts.nodes += static_cast<int>(part.value().nodes.size());
  counts.identical += part.value().identical ? 1 : 0;
  counts.withBodies += plan.model->bodies.empty() ? 0 : 1;
  const std::set<std::string> names(part.value().nodes.begin(), part.value().nodes.end());
  // Of a node of the file that normalisation copied, each copy stands for it.
  for (const std::string& node : selection.nodes)
    for (const OriginId origin : plan.graph().node(*plan.graph().findNode(node)).origins)
      if (const std::string& name = plan.model->origins[origin.index].name; !names.contains(name))
        return "node " + name + " is not in the part";
  if (const Status saved = part.value().save(); !saved.ok()) return saved.error().text();
  return checkWritten(options.path);
}

TEST(PropertyParts, GiveWhatTheWholeHasThere) {
  const Seeds seeds = Seeds::asked(120);
  const test::TemporaryFolder folder;
  Counts counts;
  seeds.run([&](std::uint64_t seed) { return checkPart(seed, counts, folder); });
  fmt::print("{} parts of {} networks ({} with bodies), {} nodes, {} to the bit\n", counts.parts, counts.networks,
             counts.withBodies, counts.nodes, counts.identical);
  if (seeds.cases >= 120) {
    EXPECT_GT(counts.parts, 100);
    EXPECT_GT(counts.identical, counts.parts * 9 / 10);
  }
}

std::string checkReplaced(std::uint64_t seed, Counts& counts, const test::TemporaryFolder& folder) {
  Dice dice(seed * 86'028'121 + 5);
  // A substitution rounds elsewhere, which tells in narrow floats and where a small change is made a large one.
  const auto path = fileOf(seed, dice, folder, {.f32Only = true, .smooth = true});
  if (path.empty()) return "the network could not be made";
  const auto artifact = openArtifact(path, {}, {});
  if (!artifact.ok()) return artifact.error().text();
  const auto samples = loadSamples(*artifact.value().plan, {});
  if (!samples.ok()) return samples.error().text();
  ++counts.networks;
  for (const Substitution& rule : substitutions()) {
    if (rule.argument == RuleArgument::Value) continue;
    const ReplaceOptions options{.path = folder / "new.onnx", .run = {.threads = 1}};
    const auto made = replaceIn(artifact.value(), {std::string(rule.name)}, samples.value(), options);
    // Most networks have no place for most rules.
    if (!made.ok() && made.error().message.starts_with("the network has no place")) continue;
    if (!made.ok()) return fmt::format("{}: {}", rule.name, made.error().text());
    if (made.value().failedCheck) return fmt::format("{}: {}", rule.name, made.value().failedCheck->text());
    counts.replaced += static_cast<int>(made.value().replacements.size());
  }
  return {};
}

TEST(PropertyParts, SubstitutionsKeepValues) {
  const Seeds seeds = Seeds::asked(60);
  const test::TemporaryFolder folder;
  Counts counts;
  seeds.run([&](std::uint64_t seed) { return checkReplaced(seed, counts, folder); });
  fmt::print("{} replacements in {} networks\n", counts.replaced, counts.networks);
  if (seeds.cases >= 60) {
    EXPECT_GT(counts.replaced, 20);
  }
}

}  // namespace
}  // namespace fusescope::property
