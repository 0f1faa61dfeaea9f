#include "tests/mutation/mutations.h"

#include <algorithm>

#include "tests/mutation/graph_mutations.h"
#include "tests/mutation/onnx_fields.h"
#include "tests/mutation/wire.h"

namespace fusescope::mutation {
namespace {

/// No types of inner values: what the file no longer claims is left to inference.
void forgetTypes(WireMessage& graph) {
  std::erase_if(graph.fields, [](const WireField& f) { return f.number == graph_field::kValue; });
}

/// The main graph, or now and then one that a node of it holds.
bool changeGraph(WireMessage& graph, Dice& dice, const GraphMutation& mutation) {
  if (!dice.oneIn(3)) return mutation.apply(graph, dice);
  std::vector<std::size_t> holders;
  for (const std::size_t at : graph.all(graph_field::kNode)) {
    const auto node = WireMessage::parse(graph.fields[at].bytes);
    if (!node) continue;
    for (const std::size_t slot : node->all(node_field::kAttribute)) {
      const auto attribute = WireMessage::parse(node->fields[slot].bytes);
      if (attribute && !attribute->all(attribute_field::kGraph).empty()) holders.push_back(at);
    }
  }
  if (holders.empty()) return mutation.apply(graph, dice);
  WireField& holder = graph.fields[dice.of(holders)];
  auto node = WireMessage::parse(holder.bytes);
  const bool changed = changeNested(*node, node_field::kAttribute, dice, [&](WireMessage& attribute) {
    return changeNested(attribute, attribute_field::kGraph, dice,
                        [&](WireMessage& body) { return mutation.apply(body, dice); });
  });
  if (changed) holder.bytes = node->serialised();
  return changed;
}

bool changeOpset(WireMessage& model, Dice& dice) {
  return changeNested(model, model_field::kOpset, dice, [&](WireMessage& opset) {
    const auto places = opset.all(kOpsetVersion);
    if (places.empty()) return false;
    opset.fields[places.front()].scalar = dice.oneIn(3) ? absurdNumber(dice) : 1 + dice.below(30);
    return true;
  });
}

std::string damageBytes(std::string bytes, Dice& dice, std::string& step) {
  if (bytes.empty()) return bytes;
  switch (dice.below(4)) {
    case 0:
      step = "cut the file";
      bytes.resize(dice.below(bytes.size()));
      break;
    case 1:
      step = "overwrite bytes";
      for (std::size_t i = 0, at = dice.below(bytes.size()), run = 1 + dice.below(64); i < run && at + i < bytes.size();
           ++i)
        bytes[at + i] = static_cast<char>(dice.bits());
      break;
    default:
      step = "flip bits";
      for (std::size_t i = 0, flips = 1 + dice.below(32); i < flips; ++i)
        bytes[dice.below(bytes.size())] ^= static_cast<char>(1U << dice.below(8));
  }
  return bytes;
}

/// Weights are most of a file: a copy without most of them lets flipped bits hit the structure.
void shrinkWeights(WireMessage& graph) {
  constexpr std::size_t kKept = 256;
  for (const std::size_t at : graph.all(graph_field::kInitializer)) {
    auto tensor = WireMessage::parse(graph.fields[at].bytes);
    if (!tensor) continue;
    std::erase_if(tensor->fields,
                  [](const WireField& f) { return f.number == tensor_field::kRaw && f.bytes.size() > kKept; });
    graph.fields[at].bytes = tensor->serialised();
  }
}

}  // namespace

Mutant mutated(std::string_view model, std::uint64_t seed) {
  Dice dice(seed);
  Mutant mutant{.bytes = std::string(model), .steps = {}};
  auto message = WireMessage::parse(model);
  const auto graphs = message ? message->all(model_field::kGraph) : std::vector<std::size_t>{};
  if (!graphs.empty()) {
    WireField& field = message->fields[graphs.front()];
    auto graph = WireMessage::parse(field.bytes);
    const bool flip = dice.oneIn(4);
    if (graph && flip) shrinkWeights(*graph);
    if (graph && dice.oneIn(2)) forgetTypes(*graph);
    for (std::size_t i = 0, count = flip ? dice.below(2) : 1 + dice.below(3); graph && i < count; ++i) {
      const GraphMutation& mutation = dice.of(graphMutations());
      for (int attempt = 0; attempt < 8; ++attempt) {
        if (!changeGraph(*graph, dice, mutation)) continue;
        mutant.steps.emplace_back(mutation.name);
        break;
      }
    }
    if (graph) field.bytes = graph->serialised();
    if (dice.oneIn(12) && changeOpset(*message, dice)) mutant.steps.emplace_back("other opset");
    mutant.bytes = message->serialised();
    if (!flip) return mutant;
  }
  std::string step;
  mutant.bytes = damageBytes(std::move(mutant.bytes), dice, step);
  mutant.steps.push_back(step);
  return mutant;
}

}  // namespace fusescope::mutation
