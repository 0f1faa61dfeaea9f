#include "tests/property/random_options.h"

#include "planning/steps.h"

namespace fusescope::property {

namespace {

using mutation::Dice;

const Node& randomNode(Dice& dice, const Graph& graph) {
  return graph.node(dice.of(graph.order()));
}

std::string nodePattern(Dice& dice, const Graph& graph) {
  const Node& node = randomNode(dice, graph);
  const std::size_t roll = dice.below(10);
  if (roll == 0) return "op:" + node.op;
  if (roll == 1) return node.op + "_*";
  if (roll == 2 && !node.outputs.empty()) return "value:" + graph.value(node.outputs.front()).name;
  return node.name;
}

DataType randomType(Dice& dice) {
  static const std::vector<DataType> kTypes{DataType::F32, DataType::F32, DataType::F32,
                                            DataType::F16, DataType::F16, DataType::BF16};
  return dice.oneIn(40) ? DataType::F64 : dice.of(kTypes);
}

Directive typed(Dice& dice, const Graph& graph, DirectiveKind kind) {
  return {.kind = kind,
          .pattern = nodePattern(dice, graph),
          .type = randomType(dice),
          .strictness = dice.oneIn(2) ? Strictness::Obey : Strictness::Prefer};
}

Directive noFuse(Dice& dice, const Graph& graph) {
  return {.kind = DirectiveKind::NoFuse,
          .pattern = dice.oneIn(2) ? std::string() : randomNode(dice, graph).name,
          .rule = dice.of(fusionRuleNames())};
}

/// One about what runs where and as which kernels.
Directive structural(Dice& dice, const Graph& graph) {
  switch (dice.below(6)) {
    case 0:
      return fallbackDirective(nodePattern(dice, graph));
    case 1:
      return minSegmentDirective(1 + static_cast<std::int64_t>(dice.below(4)));
    case 2:
    case 3:
      return splitDirective(randomNode(dice, graph).name);
    default:
      return noFuse(dice, graph);
  }
}

Directive truncation(Dice& dice) {
  static const std::vector<TruncateMode> kModes{TruncateMode::None, TruncateMode::Long, TruncateMode::Double,
                                                TruncateMode::All};
  static const std::vector<DirectiveKind> kKinds{DirectiveKind::Truncate, DirectiveKind::TruncateInputs,
                                                 DirectiveKind::TruncateConstants};
  return {.kind = dice.of(kKinds), .truncate = dice.of(kModes)};
}

Directive anyDirective(Dice& dice, const Graph& graph) {
  const std::size_t roll = dice.below(12);
  if (roll < 6) return typed(dice, graph, DirectiveKind::Pin);
  if (roll < 8) return typed(dice, graph, DirectiveKind::PinOutput);
  return roll == 8 ? truncation(dice) : structural(dice, graph);
}

}  // namespace

PlanOptions randomOptions(Dice& dice, const Graph& graph) {
  static const std::vector<std::string> kTargets{"cpu:avx2", "cpu:none", "tensorrt-8", "tensorrt-10", "tensorrt-11"};
  static const std::vector<std::vector<DataType>> kPrecisions{
      {}, {DataType::F16}, {DataType::BF16}, {DataType::F16, DataType::F32}};
  PlanOptions options{.target = dice.of(kTargets), .precisions = dice.of(kPrecisions)};
  const std::size_t count = dice.below(7);
  for (std::size_t i = 0; i < count; ++i) options.directives.push_back(anyDirective(dice, graph));
  assignIds(options.directives);
  return options;
}

PlanOptions unloweredOptions(Dice& dice, const Graph& graph) {
  PlanOptions options{.target = dice.oneIn(2) ? "cpu:avx2" : "cpu:none"};
  const std::size_t count = dice.below(5);
  for (std::size_t i = 0; i < count; ++i) options.directives.push_back(structural(dice, graph));
  assignIds(options.directives);
  return options;
}

}  // namespace fusescope::property
