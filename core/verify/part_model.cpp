#include "verify/part_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "passes/pipelines.h"
#include "planning/directive_effects.h"
#include "planning/read_back/stated_support.h"

namespace fusescope {
namespace {

class PartBuilder {
 public:
  PartBuilder(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes)
      : m_plan(plan), m_graph(plan.graph()), m_requests(requests), m_nodes(nodes.begin(), nodes.end()) {}

  Result<Model> model() {
    m_model.path = m_plan.model->path;
    m_model.format = m_plan.model->format;
    m_model.opset = m_plan.model->opset;
    m_model.files = m_plan.model->files;
    m_editor.setName(m_graph.name());
    for (const NodeId id : m_graph.order())
      if (m_nodes.contains(id)) TRY(addNode(m_graph.node(id)));
    for (const NodeId id : m_graph.order())
      if (m_nodes.contains(id)) addOutputs(m_graph.node(id));
    m_model.graph = TRY(m_editor.publish());
    m_model.fileNodes = static_cast<std::int64_t>(m_model.origins.size());
    return std::move(m_model);
  }

  /// Returns options with which the part's nodes calculate, and its outputs are stored, as in the plan.
  PlanOptions options(bool apart) const {
    PlanOptions options{.target = m_plan.options.target, .workspaceBytes = m_plan.options.workspaceBytes};
    const auto add = [&](DirectiveKind kind, const Node& node, DataType type) {
      options.directives.push_back({.kind = kind, .pattern = node.name, .type = type});
    };
    for (const NodeId id : m_nodes) {
      const Node& node = m_graph.node(id);
      const DataType type = m_plan.calculates[id.index];
      if (isNarrow(type)) add(DirectiveKind::Pin, node, type);
      if (hasBody(node)) addPinsInside(node, m_plan, {}, options);
      if (apart) options.directives.push_back(splitDirective(node.name));
      for (const ValueId output : node.outputs)
        if (output.valid() && isLeft(output) && isNarrow(m_plan.storedType(output)) &&
            m_plan.storedType(output) != m_graph.value(output).type.dtype)
          add(DirectiveKind::PinOutput, node, m_plan.storedType(output));
    }
    assignIds(options.directives);
    return options;
  }

  std::vector<std::string> inputs() const { return m_inputs; }

 private:
  /// Adds pins for the types in which the nodes in the bodies of `holder`, a node of `cover`, calculate.
  static void addPinsInside(const Node& holder, const Cover& cover, const BodyPath& around, PlanOptions& options) {
    for (const CoverBody& body : cover.bodies) {
      if (body.holder != holder.id) continue;
      const BodyPath path = around.into(holder, body.attribute);
      const Graph& graph = body.cover->graph();
      for (const NodeId id : graph.order()) {
        const Node& node = graph.node(id);
        const DataType type = body.cover->calculates[id.index];
        if (isNarrow(type))
          options.directives.push_back({.kind = DirectiveKind::Pin, .pattern = path.of(node.name), .type = type});
        if (hasBody(node)) addPinsInside(node, *body.cover, path, options);
      }
    }
  }

  TensorType typeOf(ValueId value) const {
    return {m_graph.value(value).type.dtype, m_requests.types()[value.index].shape};
  }

  Result<ValueId> operand(const Node& node, ValueId value) {
    if (!value.valid()) return value;
    if (const auto known = m_here.find(value); known != m_here.end()) return known->second;
    const Value& given = m_graph.value(value);
    if (given.constant != nullptr) return m_here[value] = m_editor.addConstant(given.name, *given.constant);
    const TensorType type = typeOf(value);
    const auto dims = type.shape.fixed();
    if (!dims || given.type.container != Container::None)
      return Diagnostic{.message = "its extents are not known", .where = {.node = node.name, .value = given.name}};
    m_inputs.push_back(given.name);
    m_model.inputSpecs.push_back({given.name, type.dtype, *dims, *dims, *dims, "file"});
    return m_here[value] = m_editor.addInput(given.name, type);
  }

  Status addNode(const Node& node) {
    Node here = node;
    for (ValueId& input : here.inputs) input = TRY(operand(node, input));
    for (auto& [key, attribute] : here.attributes)
      if (auto* body = std::get_if<Subgraph>(&attribute))
        for (ValueId& captured : body->captures) captured = TRY(operand(node, captured));
    for (ValueId& output : here.outputs)
      if (output.valid()) output = m_here[output] = m_editor.addValue(m_graph.value(output).name, typeOf(output));
    here.origins = {OriginId(m_model.origins.size())};
    m_model.origins.push_back({node.name, node.op, node.domain});
    m_editor.addNode(std::move(here));
    return Done{};
  }

  /// Returns whether a value is read outside the part, or not at all.
  bool isLeft(ValueId value) const {
    const Value& made = m_graph.value(value);
    const auto isOutside = [&](NodeId user) { return !m_nodes.contains(user); };
    return m_graph.isOutput(value) || made.consumers.empty() || std::ranges::any_of(made.consumers, isOutside);
  }

  void addOutputs(const Node& node) {
    for (const ValueId output : node.outputs)
      if (output.valid() && isLeft(output)) m_editor.addOutput(m_here.at(output));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const KernelRequests& m_requests;
  std::set<NodeId> m_nodes;
  Model m_model;
  GraphEditor m_editor;
  std::map<ValueId, ValueId> m_here;
  std::vector<std::string> m_inputs;
};

}  // namespace

Result<Part> partOf(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes, bool apart,
                    const StopToken& stop) {
  PartBuilder builder(plan, requests, std::move(nodes));
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(builder.model()), stop)));
  return Part{TRY(makePlan(std::move(model), builder.options(apart), nullptr, stop)), builder.inputs()};
}

Result<Part> partFor(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes,
                     const std::string& compiler, const std::string& target, const StopToken& stop) {
  PartBuilder builder(plan, requests, std::move(nodes));
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(builder.model()), stop)));
  PlanOptions options = builder.options(false);
  options.compiler = compiler;
  // The whole part is for this compiler: it was decided for the whole network what falls back.
  if (compiler != kOwnCompiler) options.support = std::make_shared<const CompilerSupport>(nothingStated(*model->graph));
  if (compiler == plan.options.compiler) {
    options.compilerOptions = plan.options.compilerOptions;
    for (const Directive& directive : plan.options.directives)
      if (!optimisersToLeaveOut(plan, directive).empty())
        options.directives.push_back({.kind = directive.kind, .rule = directive.rule});
    assignIds(options.directives);
  }
  options.target = target;
  return Part{TRY(makePlan(std::move(model), options, nullptr, stop)), builder.inputs()};
}

}  // namespace fusescope
