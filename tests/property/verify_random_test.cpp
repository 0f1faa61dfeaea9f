// Random networks in f16, bf16 and int8 with pins, verified: an alarm is a defect of a kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "session/calibrate.h"
#include "tests/property/graph_maker.h"
#include "tests/property/random_options.h"
#include "tests/property/seeds.h"
#include "verify/verify_regions.h"

namespace fusescope::property {
namespace {

struct Counts {
  std::size_t networks = 0, contradictions = 0, refused = 0, withNaN = 0, regions = 0, tactics = 0;
  std::map<std::string, std::size_t> ofType;  ///< networks
};

std::map<std::string, Tensor> randomInputsOf(Dice& dice, const Graph& graph) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId value : graph.inputs()) {
    const Value& input = graph.value(value);
    Tensor tensor = Tensor::zeros(DataType::F32, input.type.shape.fixed().value());
    for (float& element : tensor.mutableData<float>())
      element = static_cast<float>(dice.below(1 << 20)) / (1 << 18) - 2;
    inputs[input.name] = tensor.converted(input.type.dtype);
  }
  return inputs;
}

/// One NaN or infinity in each input.
void putNaN(Dice& dice, std::map<std::string, Tensor>& inputs) {
  for (auto& [input, tensor] : inputs) {
    Tensor changed = tensor.converted(DataType::F32);
    if (changed.count() == 0) continue;
    const auto elements = changed.mutableData<float>();
    elements[dice.below(elements.size())] = dice.oneIn(3) ? -INFINITY : NAN;
    tensor = changed.converted(tensor.type());
  }
}

/// int8 by ranges, alone or beside a float.
Status quantise(const std::shared_ptr<const Model>& model, Dice& dice, PlanOptions& options) {
  const auto floats = TRY(makePlan(model, {.target = "cpu"}));
  Samples samples;
  for (const char* name : {"first", "second"}) samples.list.push_back({name, randomInputsOf(dice, *model->graph)});
  options.ranges =
      std::make_shared<const Ranges>(TRY(calibrate(*floats, samples, {.backend = "reference", .threads = 1})));
  options.precisions = {DataType::I8};
  if (!dice.oneIn(3)) options.precisions.push_back(dice.oneIn(2) ? DataType::F16 : DataType::BF16);
  return Done{};
}

/// One directive of two is a pin of one node.
void addPins(Dice& dice, const Graph& graph, PlanOptions& options) {
  static const std::vector<DataType> kTypes{DataType::F32, DataType::F32, DataType::F16, DataType::BF16};
  for (std::size_t pins = dice.below(4); pins > 0; --pins)
    options.directives.push_back(
        {.kind = DirectiveKind::Pin, .pattern = graph.node(dice.of(graph.order())).name, .type = dice.of(kTypes)});
  assignIds(options.directives);
}

std::string typesText(const PlanOptions& options) {
  std::string text;
  for (const DataType type : options.precisions) text += (text.empty() ? "" : ",") + std::string(name(type));
  return text;
}

std::string optionsText(const PlanOptions& options) {
  std::string text = "--precision " + typesText(options);
  for (const Directive& directive : options.directives) text += " " + optionText(directive);
  return text;
}

std::string checkSeed(std::uint64_t seed, Counts& counts) {
  Dice dice(seed * 104729 + 5);
  const std::size_t way = seed % 3;
  GraphMaker maker(seed, {.f32Only = way == 2 || !dice.oneIn(3)});
  const auto model = maker.make(5 + dice.below(25));
  if (model == nullptr) return "the network could not be made";
  PlanOptions options = randomOptions(dice, *model->graph);
  options.target = "cpu";
  options.precisions = {way == 0 ? DataType::F16 : DataType::BF16};
  if (way == 2)
    if (const Status quantised = quantise(model, dice, options); !quantised.ok()) return {};
  addPins(dice, *model->graph, options);
  const auto plan = makePlan(model, options);
  if (!plan.ok()) {  // directives that contradict each other: PropertyPlans looks at these
    ++counts.contradictions;
    return {};
  }
  std::vector samples{randomInputsOf(dice, *model->graph)};
  const bool hasNaN = dice.oneIn(4);
  if (hasNaN) putNaN(dice, samples.front());
  const auto report = verifyRegions(plan.value(), samples, {.threads = 1, .seeds = 2});
  if (!report.ok() && hasNaN && report.error().text().find("outside") != std::string::npos) {
    ++counts.refused;  // NaN is no index
    return {};
  }
  if (!report.ok()) return report.error().text() + ": " + optionsText(options);
  counts.withNaN += hasNaN ? 1 : 0;
  ++counts.networks;
  ++counts.ofType[typesText(options)];
  counts.regions += report.value().regions.size();
  for (const RegionVerdict& region : report.value().regions) counts.tactics += region.tactics.size();
  const auto& wrong = report.value().mismatch;
  if (!wrong) return {};
  std::string nodes;
  if (wrong->smallest)
    for (const std::string& node : wrong->smallest->nodes) nodes += " " + node;
  return fmt::format("{} by {}, on {}: {} {}; the smallest part:{}; {}", wrong->fusedNode, wrong->failure.tactic,
                     wrong->failure.caseName, wrong->failure.output, wrong->failure.what, nodes, optionsText(options));
}

TEST(VerifyRandom, NoKernelIsAccusedWrongly) {
  const Seeds seeds = Seeds::asked(60);
  Counts counts;
  const int bad = seeds.run([&](std::uint64_t seed) { return checkSeed(seed, counts); });
  std::string types;
  for (const auto& [type, networks] : counts.ofType) types += fmt::format(", {} in {}", networks, type);
  fmt::print(
      "suite: verify of random networks: {} networks{}; {} with NaN among their inputs ({} not runnable), {} "
      "directives "
      "contradicted each other, {} regions, {} tactics, {} bad\n",
      counts.networks, types, counts.withNaN, counts.refused, counts.contradictions, counts.regions, counts.tactics,
      bad);
  EXPECT_GE(counts.networks, seeds.cases / 2);
}

}  // namespace
}  // namespace fusescope::property
