#include <algorithm>
#include <unordered_map>

#include "ops/body_flow.h"
#include "ops/type_flow.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Adds the nodes of a body to the graph of its holder.
class BodySplicer {
 public:
  /// `flow` has the types and values inside the body.
  BodySplicer(PassContext& context, const Node& holder, const Subgraph& body, const TypeFlow& flow)
      : m_context(context), m_holder(holder), m_body(body), m_flow(flow) {}

  void run() {
    const Graph& graph = *m_body.graph;
    const std::size_t own = graph.inputs().size() - m_body.captures.size();
    for (std::size_t i = 0; i < m_body.captures.size(); ++i) m_outside[graph.inputs()[own + i]] = m_body.captures[i];
    m_context.ledger.add(m_holder, static_cast<int>(graph.nodeCount() + m_holder.outputs.size()) - 1);
    m_context.editor.removeNode(m_holder.id);
    for (const NodeId id : graph.order()) addNode(graph.node(id));
    for (std::size_t i = 0; i < m_holder.outputs.size(); ++i) deliver(graph.outputs()[i], m_holder.outputs[i]);
  }

 private:
  ValueId outside(ValueId inner) {
    if (!inner.valid()) return inner;
    const auto known = m_outside.find(inner);
    if (known != m_outside.end()) return known->second;
    const Value& value = m_body.graph->value(inner);
    const ValueId made = value.constant != nullptr ? m_context.editor.addConstant(value.name, *value.constant)
                                                   : m_context.editor.addValue(value.name, m_flow.types[inner.index]);
    m_outside.emplace(inner, made);
    return made;
  }

  void addNode(Node node) {
    for (ValueId& input : node.inputs) input = outside(input);
    for (auto& [key, attribute] : node.attributes)
      if (auto* deeper = std::get_if<Subgraph>(&attribute))
        for (ValueId& capture : deeper->captures) capture = outside(capture);
    for (ValueId& output : node.outputs) output = outside(output);
    node.origins = m_holder.origins;
    m_context.editor.addNode(std::move(node));
  }

  /// The holder's results keep their names; the next pass removes the Identity.
  void deliver(ValueId inner, ValueId outer) {
    if (!outer.valid()) return m_context.ledger.add(m_holder, -1);
    m_context.editor.addNode({.op = "Identity",
                              .name = m_holder.name,
                              .inputs = {outside(inner)},
                              .outputs = {outer},
                              .origins = m_holder.origins});
  }

  PassContext& m_context;
  const Node m_holder;
  const Subgraph m_body;
  const TypeFlow& m_flow;
  std::unordered_map<ValueId, ValueId> m_outside;  ///< outside, by value of the body
};

class InlineBranches : public Pass {
 public:
  std::string_view name() const override { return "inline_branches"; }

  /// A branch may contain further Ifs, whose conditions are known only when its nodes are in the graph.
  Result<bool> run(PassContext& context) const override {
    std::shared_ptr<const Graph> current;
    const Graph* graph = &context.graph;
    bool changed = false;
    while (hasIf(*graph)) {
      const TypeFlow flow =
          TRY(flowTypes(*graph, inputTypes(*graph, context.inputSpecs),
                        {.declared = DeclaredTypes::Complete, .compute = ComputeValues::All}, context.stop));
      bool found = false;
      for (const NodeId id : graph->order()) found = TRY(take(context, *graph, graph->node(id), flow)) || found;
      if (!found) break;
      changed = true;
      current = TRY(context.editor.publish());
      graph = current.get();
    }
    return changed;
  }

 private:
  static bool hasIf(const Graph& graph) {
    return std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).is("If"); });
  }

  Result<bool> take(PassContext& context, const Graph& graph, const Node& node, const TypeFlow& flow) const {
    if (!node.is("If") || !node.input(0).valid()) return false;
    const Tensor* condition = flow.known[node.input(0).index].get();
    if (condition == nullptr || condition->type() != DataType::Bool || condition->count() != 1) return false;
    const bool holds = condition->asInt64(0) != 0;
    const std::string branch = holds ? "then_branch" : "else_branch";
    const auto found = node.attributes.find(branch);
    const auto* body = found == node.attributes.end() ? nullptr : std::get_if<Subgraph>(&found->second);
    if (body == nullptr || body->graph->inputs().size() != body->captures.size()) return false;
    std::vector<const TensorType*> types;
    std::vector<const Tensor*> values;
    for (const ValueId id : operands(node)) {
      types.push_back(id.valid() ? &flow.types[id.index] : nullptr);
      values.push_back(id.valid() ? flow.known[id.index].get() : nullptr);
    }
    const TypeFlow inside = TRY(flowBody(node, branch, types, values));
    for (const OriginId origin : node.origins)
      context.decisions.push_back(
          decide("normalise.branch_taken", {Subject::node(context.model.origins[origin.index].name)},
                 std::string(name()), {{"condition", holds}, {"branch", branch}, {"nodes", body->graph->nodeCount()}}));
    BodySplicer(context, graph.node(node.id), *body, inside).run();
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> inlineBranches() {
  return std::make_unique<InlineBranches>();
}

}  // namespace fusescope
