#include <algorithm>

#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

class RemoveDead : public Pass {
 public:
  std::string_view name() const override { return "remove_dead"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const std::vector<bool> needed = neededValues(graph);
    const auto isNeeded = [&](ValueId id) { return id.valid() && needed[id.index]; };
    bool changed = false;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (std::ranges::any_of(node.outputs, isNeeded)) continue;
      context.ledger.retire(node, "normalise.dead", name());
      context.editor.removeNode(id);
      changed = true;
    }
    for (const ValueId id : graph.allValues()) {
      if (needed[id.index] || graph.isInput(id)) continue;
      const NodeId producer = graph.value(id).producer;
      if (context.editor.current().has(producer)) continue;  // an unused output of a node that others need
      context.editor.removeValue(id);
      changed = true;
    }
    return changed;
  }

 private:
  static std::vector<bool> neededValues(const Graph& graph) {
    std::vector<bool> needed(graph.valueIdLimit(), false);
    for (const ValueId output : graph.outputs()) needed[output.index] = true;
    for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
      const Node& node = graph.node(*id);
      const bool alive =
          std::ranges::any_of(node.outputs, [&](ValueId output) { return output.valid() && needed[output.index]; });
      if (!alive) continue;
      for (const ValueId input : node.inputs)
        if (input.valid()) needed[input.index] = true;
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute))
          for (const ValueId capture : body->captures) needed[capture.index] = true;
    }
    return needed;
  }
};

}  // namespace

std::unique_ptr<Pass> removeDead() {
  return std::make_unique<RemoveDead>();
}

}  // namespace fusescope
