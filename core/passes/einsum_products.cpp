#include <algorithm>
#include <optional>

#include "ops/support/einsum_equation.h"
#include "ops/type_flow.h"
#include "passes/prepare_passes.h"
#include "passes/reshape_operand.h"

namespace fusescope {
namespace {

/// The labels of an equation with two operands, by their role in a product.
struct Roles {
  std::string batch, left, right, summed;
};

bool contains(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

bool repeats(const std::string& labels) {
  return std::ranges::any_of(labels, [&](char label) { return std::ranges::count(labels, label) != 1; });
}

/// Returns nothing if the equation is not a product: it takes the diagonal of an operand, sums over one operand alone,
/// or has no sum.
std::optional<Roles> rolesOf(const ops::EinsumEquation& equation) {
  const std::string &a = equation.inputs[0], &b = equation.inputs[1], &out = equation.output;
  if (repeats(a) || repeats(b)) return std::nullopt;
  Roles roles;
  for (const char label : out) {
    const bool inBoth = contains(a, label) && contains(b, label);
    (inBoth ? roles.batch : contains(a, label) ? roles.left : roles.right) += label;
  }
  for (const char label : a + b) {
    if (contains(out, label)) continue;
    if (!contains(a, label) || !contains(b, label)) return std::nullopt;
    if (!contains(roles.summed, label)) roles.summed += label;
  }
  if (roles.summed.empty()) return std::nullopt;
  return roles;
}

/// The labels of axes; the labels in one text are joined.
using LabelGroups = std::vector<std::string>;

LabelGroups apart(const std::string& labels) {
  LabelGroups groups;
  for (const char label : labels) groups.emplace_back(1, label);
  return groups;
}

LabelGroups together(LabelGroups a, const LabelGroups& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string labelsOf(const LabelGroups& groups) {
  std::string labels;
  for (const std::string& group : groups) labels += group;
  return labels;
}

/// A Transpose or a Reshape.
struct Step {
  std::string op, name;
  std::vector<std::int64_t> numbers;  ///< the order of the axes, or the extents
  Shape shape;                        ///< of the result
};

/// The steps that are applied to a value, and the labels of its axes after them.
struct Chain {
  LabelGroups axes;
  Shape shape;
  std::vector<Step> steps{};
};

/// Replaces one Einsum by a MatMul, with Transpose and Reshape around it where axes have to be moved or joined.
/// Everything is planned first, so that nothing is edited if the extents of a step are unknown.
class Rewriting {
 public:
  Rewriting(PassContext& context, const Node& node, const TypeFlow& flow)
      : m_context(context), m_node(node), m_flow(flow) {}

  /// Returns the operators that replace the Einsum, or nothing if it stays.
  std::optional<std::string> run() {
    const auto roles = readRoles();
    if (!roles) return std::nullopt;
    // Without a batch, the axes of the left operand are not joined, because a matrix may be multiplied from the right.
    const LabelGroups left = roles->batch.empty() ? apart(roles->left) : together(apart(roles->batch), {roles->left});
    const Chain a = arranged(0, together(left, {roles->summed}));
    const Chain b = arranged(1, together(apart(roles->batch), {roles->summed, roles->right}));
    const LabelGroups made = together(left, {roles->right});
    Chain product{.axes = made, .shape = shapeOf(made)};
    regroup(product, apart(labelsOf(made)), "apart");
    reorder(product, m_equation.output, "result");
    if (!m_possible) return std::nullopt;
    edit(a, b, product);
    std::string form;
    for (const Chain* chain : {&a, &b})
      for (const Step& step : chain->steps) form += step.op + ", ";
    form += "MatMul";
    for (const Step& step : product.steps) form += ", " + step.op;
    return form;
  }

 private:
  std::optional<Roles> readRoles() {
    if (!m_node.is("Einsum") || m_node.inputs.size() != 2 || !m_node.outputs[0].valid()) return std::nullopt;
    std::vector<std::size_t> ranks;
    for (const ValueId input : m_node.inputs) {
      const TensorType& type = m_flow.types[input.index];
      if (!type.shape.ranked || !isFloat(type.dtype)) return std::nullopt;
      ranks.push_back(type.shape.rank());
    }
    auto equation = ops::einsumEquation(m_node, ranks);
    if (!equation.ok()) return std::nullopt;
    m_equation = std::move(equation).value();
    auto roles = rolesOf(m_equation);
    return roles && extentsAgree(*roles) ? roles : std::nullopt;
  }

  /// In an Einsum, an extent of 1 may be broadcast to any other.
  bool extentsAgree(const Roles& roles) const {
    return std::ranges::all_of(roles.batch + roles.summed, [&](char label) {
      const Dim &a = extentIn(0, label), &b = extentIn(1, label);
      return a == b && (a.known() || !a.symbol.empty());
    });
  }

  const Dim& extentIn(std::size_t input, char label) const {
    return m_flow.types[m_node.inputs[input].index].shape.dims[m_equation.inputs[input].find(label)];
  }

  /// Returns the extents of joined axes; a group without axes has extent 1.
  Shape shapeOf(const LabelGroups& groups) const {
    Shape shape = Shape::of(std::vector<Dim>());
    for (const std::string& group : groups) {
      Dim extent(1);
      for (const char label : group) {
        const Dim& own = extentIn(contains(m_equation.inputs[0], label) ? 0 : 1, label);
        extent = group.size() == 1 ? own : extent.known() && own.known() ? Dim(extent.size * own.size) : Dim();
      }
      shape.dims.push_back(extent);
    }
    return shape;
  }

  Chain arranged(std::size_t operand, const LabelGroups& axes) {
    const std::string what = operand == 0 ? "left" : "right";
    const LabelGroups own = apart(m_equation.inputs[operand]);
    Chain chain{.axes = own, .shape = shapeOf(own)};
    reorder(chain, labelsOf(axes), what);
    regroup(chain, axes, what + "_matrix");
    return chain;
  }

  void reorder(Chain& chain, const std::string& labels, const std::string& what) const {
    const std::string own = labelsOf(chain.axes);
    if (own == labels) return;
    std::vector<std::int64_t> perm;
    for (const char label : labels) perm.push_back(static_cast<std::int64_t>(own.find(label)));
    chain.axes = apart(labels);
    chain.shape = shapeOf(chain.axes);
    chain.steps.push_back({"Transpose", what, std::move(perm), chain.shape});
  }

  void regroup(Chain& chain, const LabelGroups& axes, const std::string& what) {
    if (chain.axes == axes) return;
    const Shape shape = shapeOf(axes);
    const auto entries = reshapeOperand(chain.shape, shape);
    m_possible = m_possible && entries.has_value();
    chain.axes = axes;
    chain.shape = shape;
    chain.steps.push_back({"Reshape", what, entries.value_or(Dims()), shape});
  }

  /// Adds a node for each step of `chain` after `value`. The last node writes `end`, if it is valid.
  ValueId add(const Chain& chain, ValueId value, ValueId end = {}) {
    const DataType type = m_flow.types[m_node.inputs[0].index].dtype;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const Step& step = chain.steps[i];
      const std::string name = m_node.name + "/" + step.name;
      Node node{.op = step.op, .name = name, .inputs = {value}, .origins = m_node.origins};
      if (step.op == "Transpose")
        node.attributes["perm"] = step.numbers;
      else
        node.inputs.push_back(m_context.editor.addConstant(name + "/shape", Tensor::ofInt64(step.numbers)));
      const bool last = i + 1 == chain.steps.size() && end.valid();
      value = last ? end : m_context.editor.addValue(name, {type, step.shape});
      node.outputs = {value};
      m_context.editor.addNode(std::move(node));
      ++m_added;
    }
    return value;
  }

  void edit(const Chain& a, const Chain& b, const Chain& product) {
    const Node original = m_node;
    GraphEditor& editor = m_context.editor;
    const ValueId left = add(a, original.inputs[0]), right = add(b, original.inputs[1]);
    Node& edited = editor.mutableNode(original.id);
    edited.op = "MatMul";
    edited.attributes.clear();
    edited.inputs = {left, right};
    if (!product.steps.empty()) {
      const DataType type = m_flow.types[original.inputs[0].index].dtype;
      const ValueId made = editor.addValue(original.name + "/product", {type, Shape::unknown()});
      editor.redirectOutput(original.id, original.outputs[0], made);
      add(product, made, original.outputs[0]);
    }
    m_context.ledger.add(original, m_added);
  }

  PassContext& m_context;
  const Node& m_node;
  const TypeFlow& m_flow;
  ops::EinsumEquation m_equation;
  bool m_possible = true;
  int m_added = 0;
};

class EinsumProducts : public Pass {
 public:
  std::string_view name() const override { return "einsum_products"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const auto isEinsum = [&](NodeId id) { return graph.node(id).is("Einsum"); };
    if (std::ranges::none_of(graph.order(), isEinsum)) return false;
    const TypeFlow flow =
        TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs), {.declared = DeclaredTypes::Fill}, context.stop));
    bool changed = false;
    for (const NodeId id : graph.order()) {
      const auto form = Rewriting(context, graph.node(id), flow).run();
      if (!form) continue;
      const Node& node = graph.node(id);
      for (const OriginId origin : node.origins)
        if (Origin& of = context.model.origins[origin.index]; of.name == node.name)
          of.equation = node.textAttribute("equation", "");
      context.decisions.push_back(decide("normalise.einsum_product", {Subject::node(node.name)}, std::string(name()),
                                         {{"equation", node.textAttribute("equation", "")}, {"form", *form}}));
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> einsumProducts() {
  return std::make_unique<EinsumProducts>();
}

}  // namespace fusescope
