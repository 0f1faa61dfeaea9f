#include <algorithm>

#include "ops/op_schema.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Returns whether the reader may share the calculated numbers with others, because it is arithmetic that belongs
/// together, such as that of a norm or an activation.
bool mayShare(const Node& reader) {
  const OpSchema* schema = OpRegistry::standard().find(reader);
  if (schema == nullptr || reader.is("Add")) return false;
  return schema->kind == OpKind::Elementwise || schema->kind == OpKind::Reduction;
}

class CopyDequantize : public Pass {
 public:
  std::string_view name() const override { return "copy_dequantize"; }

  Result<bool> run(PassContext& context) const override {
    bool changed = false;
    for (const NodeId id : context.graph.order()) {
      const Node& node = context.graph.node(id);
      if (node.is("DequantizeLinear") && node.outputs.size() == 1 && node.outputs[0].valid())
        changed = copyFor(context, node) || changed;
    }
    return changed;
  }

 private:
  /// A body reads what it captures in place. The original also stays for an output of the graph.
  static bool copyFor(PassContext& context, const Node& node) {
    const ValueId value = node.outputs[0];
    const std::vector<NodeId>& users = context.graph.value(value).consumers;
    bool taken = context.graph.isOutput(value);  // whether the original has a reader already
    const bool calculated = !context.graph.isConstant(node.input(0));
    std::vector<NodeId> alone;
    for (const NodeId user : users) {
      const Node& reader = context.graph.node(user);
      if ((calculated && mayShare(reader)) || hasBody(reader)) {
        taken = true;
      } else {
        alone.push_back(user);
      }
    }
    if (!taken && !alone.empty()) alone.erase(alone.begin());
    for (const NodeId user : alone) redirect(context, node, value, user);
    if (alone.empty()) return false;
    context.decisions.push_back(decide("normalise.dequantize_copied", {Subject::node(node.name)}, "copy_dequantize",
                                       {{"readers", users.size()}}));
    return true;
  }

  static void redirect(PassContext& context, const Node& node, ValueId value, NodeId user) {
    const Value& about = context.graph.value(value);
    Node copy = node;
    const ValueId own = context.editor.addValue(about.name, about.type);
    copy.outputs = {own};
    context.editor.addNode(std::move(copy));
    std::ranges::replace(context.editor.mutableNode(user).inputs, value, own);
  }
};

}  // namespace

std::unique_ptr<Pass> copyDequantize() {
  return std::make_unique<CopyDequantize>();
}

}  // namespace fusescope
