#include "passes/body_input_specs.h"

#include <algorithm>

#include "analysis/cost.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::string_view kHolderSource = "holder";

using Choice = ChosenExtents::Choice;

class BodySpecs {
 public:
  explicit BodySpecs(const Model& outer)
      : m_outer(outer), m_least(outer, Choice::Least), m_usual(outer, Choice::Usual), m_most(outer, Choice::Most) {}

  std::vector<InputSpec> of(const ModelBody& body) const {
    const Graph& graph = *body.model->graph;
    const std::vector<ValueId> handed = operands(m_outer.graph->node(body.holder));
    std::vector<InputSpec> specs;
    for (const ValueId input : graph.inputs()) {
      const Value& value = graph.value(input);
      InputSpec spec{.name = value.name, .dtype = value.type.dtype, .source = std::string(kHolderSource)};
      spec.min = extentsOf(value.type, handed, m_least);
      spec.opt = extentsOf(value.type, handed, m_usual);
      spec.max = extentsOf(value.type, handed, m_most);
      specs.push_back(std::move(spec));
    }
    return specs;
  }

 private:
  /// The symbols of a body's inputs are those of the values that its holder reads, from which their values are taken.
  static std::optional<std::int64_t> valueOf(const Dim& dim, const Graph& outer, const std::vector<ValueId>& handed,
                                             const ChosenExtents& extents) {
    for (const ValueId operand : handed) {
      if (!operand.valid()) continue;
      const auto dims = extents.of(operand);
      const std::vector<Dim>& named = outer.value(operand).type.shape.dims;
      for (std::size_t axis = 0; dims && axis < named.size(); ++axis)
        if (named[axis].symbol == dim.symbol) return (*dims)[axis];
    }
    return std::nullopt;
  }

  Dims extentsOf(const TensorType& type, const std::vector<ValueId>& handed, const ChosenExtents& extents) const {
    if (!type.shape.ranked) return {-1};  // not an extent that could be confused with one of the numbers
    Dims dims;
    for (const Dim& dim : type.shape.dims) {
      const bool named = !dim.known() && !dim.symbol.empty();
      const auto known = named ? valueOf(dim, *m_outer.graph, handed, extents) : std::nullopt;
      dims.push_back(dim.known() ? dim.size : known.value_or(-1));
    }
    return dims;
  }

  const Model& m_outer;
  const ChosenExtents m_least, m_usual, m_most;
};

}  // namespace

void specifyBodyInputs(Model& model) {
  if (model.bodies.empty()) return;
  const BodySpecs specs(model);
  for (ModelBody& body : model.bodies) {
    Model own = *body.model;
    own.inputSpecs = specs.of(body);
    specifyBodyInputs(own);
    body.model = std::make_shared<const Model>(std::move(own));
  }
}

}  // namespace fusescope
