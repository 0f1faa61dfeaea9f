#include <algorithm>

#include "passes/pipelines.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Makes captured constants constants of the body, and removes captures that it does not read.
Result<Subgraph> withoutConstantCaptures(const Graph& graph, const Subgraph& body) {
  GraphEditor editor(*body.graph);
  const std::size_t own = body.graph->inputs().size() - body.captures.size();
  std::vector<ValueId> inputs(body.graph->inputs().begin(),
                              body.graph->inputs().begin() + static_cast<std::ptrdiff_t>(own));
  Subgraph result;
  std::vector<ValueId> unread;
  for (std::size_t i = 0; i < body.captures.size(); ++i) {
    const ValueId input = body.graph->inputs()[own + i];
    const auto& constant = graph.value(body.captures[i]).constant;
    const Value& inside = body.graph->value(input);
    if (constant != nullptr && constant->container() == Container::None) {
      editor.makeConstant(input, *constant);
    } else if (!inside.consumers.empty() || body.graph->isOutput(input)) {
      inputs.push_back(input);
      result.captures.push_back(body.captures[i]);
    } else {
      unread.push_back(input);
    }
  }
  if (result.captures.size() == body.captures.size()) return body;
  editor.setInputs(std::move(inputs));
  for (const ValueId value : unread) editor.removeValue(value);
  result.graph = TRY(std::move(editor).publish());
  return result;
}

/// Returns the nodes of `body` as if they were from a file of their own.
Result<Model> bodyModel(const Model& outer, const Node& holder, const std::string& attribute, const Graph& body) {
  Model model;
  model.isBody = true;
  model.path = outer.path;
  model.format = outer.format;
  model.producer = outer.producer;
  model.opset = outer.opset;
  model.weightless = outer.weightless;
  GraphEditor editor(body);
  for (const NodeId id : body.order()) {
    const Node& node = body.node(id);
    editor.mutableNode(id).origins = {OriginId(model.origins.size())};
    model.origins.push_back(
        {.name = node.name, .op = node.op, .domain = node.domain, .source = outer.sourceOf(holder)});
  }
  model.graph = TRY(std::move(editor).publish());
  model.fileNodes = static_cast<std::int64_t>(body.nodeCount());
  KeyBuilder key;
  key.text(outer.contentHash.hex()).text(holder.name).text(attribute);
  model.contentHash = key.hash();
  return model;
}

class PrepareBodies : public Pass {
 public:
  std::string_view name() const override { return "prepare_bodies"; }

  Result<bool> run(PassContext& context) const override {
    std::vector<ModelBody> bodies;
    bool changed = false;
    for (const NodeId id : context.graph.order()) {
      const Node& node = context.graph.node(id);
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute))
          changed = TRY(prepare(context, node, key, *body, bodies)) || changed;
    }
    context.model.bodies = std::move(bodies);
    return removeUnread(context) || changed;
  }

 private:
  /// A body that was already prepared is unchanged. So is one whose types cannot be inferred, because it is a branch
  /// that is not taken.
  static Result<bool> prepare(PassContext& context, const Node& holder, const std::string& attribute,
                              const Subgraph& body, std::vector<ModelBody>& bodies) {
    for (const ModelBody& known : context.model.bodies) {
      if (known.holder != holder.id || known.attribute != attribute || known.model->graph != body.graph) continue;
      bodies.push_back(known);
      return false;
    }
    Subgraph own = TRY(withoutConstantCaptures(context.graph, body));
    auto prepared = prepareBody(TRY(bodyModel(context.model, holder, attribute, *own.graph)), context.stop);
    if (!prepared.ok() && prepared.error().cancelled) return prepared.error();
    if (!prepared.ok()) return false;
    auto model = std::make_shared<const Model>(std::move(prepared).value());
    own = TRY(withoutConstantCaptures(context.graph, {model->graph, own.captures}));
    if (own.graph != model->graph) {
      Model fewer = *model;
      fewer.graph = own.graph;
      model = std::make_shared<const Model>(std::move(fewer));
    }
    context.editor.mutableNode(holder.id).attributes[attribute] = own;
    bodies.push_back({holder.id, attribute, std::move(model)});
    return true;
  }

  /// Removes constants that only bodies read, which have them as their own now.
  static bool removeUnread(PassContext& context) {
    std::vector<char> read(context.graph.valueIdLimit(), 0);
    for (const NodeId id : context.graph.order())
      for (const ValueId operand : operands(context.editor.current().node(id)))
        if (operand.valid()) read[operand.index] = 1;
    for (const ValueId output : context.graph.outputs()) read[output.index] = 1;
    bool changed = false;
    for (const ValueId id : context.graph.allValues()) {
      if (!context.graph.isConstant(id) || read[id.index] != 0) continue;
      context.editor.removeValue(id);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> prepareBodies() {
  return std::make_unique<PrepareBodies>();
}

}  // namespace fusescope
