#include "ops/type_flow.h"

#include <algorithm>
#include <map>

#include "ops/greatest_elements.h"
#include "ops/op_schema.h"
#include "ops/open_extents.h"
#include "ops/run_node.h"
#include "ops/symbolic_values.h"

namespace fusescope {
namespace {

constexpr std::int64_t kSmallCount = 4096;  // elements of a value on which a shape may depend
constexpr int kMostWalks = 4;  // how often one graph is walked over at most; nothing new is learned in the last walk
// Bytes by which a computed constant may be larger than its inputs.
constexpr std::size_t kMostGrowth = std::size_t{4} << 20;

/// Returns whether kernels compute with this type. Values of other types are only moved.
bool hasArithmetic(DataType type) {
  switch (type) {
    case DataType::Undefined:
    case DataType::String:
    case DataType::C64:
    case DataType::C128:
      return false;
    default:
      return true;
  }
}

/// A Reshape keeps the number of elements.
void demandSameCount(const Shape& before, const Shape& after, std::vector<ExtentDemand>& demands) {
  if (!before.ranked || !after.ranked) return;
  const auto countOf = [](const Shape& shape) {
    ExtentExpression count = 1;
    for (const Dim& dim : shape.dims) count = count * ExtentExpression::of(dim);
    return count.dim();
  };
  demands.push_back({.left = countOf(after), .right = countOf(before)});
}

class Walk {
 public:
  Walk(const Graph& graph, const TypeFlowOptions& options)
      : m_graph(graph), m_options(options), m_extents(options.conditions, options.assumeEqual) {
    m_flow.types.resize(graph.valueIdLimit());
    m_flow.known.resize(graph.valueIdLimit());
    m_symbolic.resize(graph.valueIdLimit());
    for (const ValueId id : graph.allValues()) {
      const Value& value = graph.value(id);
      if (value.constant == nullptr) continue;
      m_flow.types[id.index] = typeOf(*value.constant);
      if (value.constant->hasData()) m_flow.known[id.index] = value.constant;
    }
  }

  TypeFlow take() {
    m_flow.conditions = m_extents.conditions();
    for (const ValueId input : m_graph.inputs()) m_flow.inputs.push_back(m_named.at(input));
    return std::move(m_flow);
  }
  OpenExtents& extents() { return m_extents; }
  /// Forgets the known elements of shapes, which the next walk computes again.
  void again() {
    m_symbolic.assign(m_symbolic.size(), std::nullopt);
    m_flow.contradicted.clear();
  }

  void setInput(ValueId id, TensorType type, const Tensor* known) {
    type = named(id, std::move(type));
    settleExtents(type, m_graph.value(id).name, {});
    m_extents.addInput(type);
    m_flow.types[id.index] = std::move(type);
    if (known != nullptr && known->hasData()) m_flow.known[id.index] = std::make_shared<const Tensor>(*known);
  }

  Status visit(const Node& node) {
    std::vector<const TensorType*> types;
    std::vector<const Tensor*> constants;
    for (const ValueId input : operands(node)) {
      types.push_back(input.valid() ? &m_flow.types[input.index] : nullptr);
      constants.push_back(input.valid() ? m_flow.known[input.index].get() : nullptr);
    }
    std::vector<const SymbolicInts*> symbolic;
    for (const ValueId input : node.inputs) symbolic.push_back(symbolicAt(input));
    const SymbolicInputs inputs{types, symbolic};
    std::vector<ExtentDemand> demands;
    std::vector<TensorType> computed = TRY(inferNode(node, types, constants, &demands));
    if (!computed.empty()) computed[0].shape = completedShape(node, inputs, computed[0].shape);
    m_greatest.visit(node, inputs, m_flow.known, demands);
    if (node.is("Reshape") && !computed.empty()) demandSameCount(types[0]->shape, computed[0].shape, demands);
    for (const ExtentDemand& demand : demands) m_extents.demand(demand, node.name);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) settle(node, node.outputs[i], i < computed.size() ? computed[i] : TensorType());
    return computeShapeValues(node, inputs) ? Status(Done{}) : computeValues(node, constants);
  }

 private:
  /// Returns what is known of each element of a value that may be a shape, or null.
  const SymbolicInts* symbolicAt(ValueId id) {
    if (!id.valid()) return nullptr;
    auto& symbolic = m_symbolic[id.index];
    if (!symbolic && m_flow.known[id.index] != nullptr) symbolic = symbolicOf(*m_flow.known[id.index]);
    return symbolic ? &*symbolic : nullptr;
  }

  /// Gives each unnamed open extent a symbol, which is the same in every walk.
  TensorType named(ValueId id, TensorType type) {
    const auto [place, isNew] = m_named.try_emplace(id, std::move(type));
    for (std::size_t axis = 0; isNew && axis < place->second.shape.dims.size(); ++axis)
      if (Dim& dim = place->second.shape.dims[axis]; dim == Dim())
        dim = m_extents.ownSymbol(m_graph.value(id).name, axis);
    return place->second;
  }

  void settle(const Node& node, ValueId id, TensorType computed) {
    m_flow.types[id.index] = completed(id, std::move(computed));
    settleExtents(m_flow.types[id.index], m_graph.value(id).name, node.name);
  }

  /// Completes the computed type by the declared one.
  TensorType completed(ValueId id, TensorType computed) {
    const TensorType& declared = m_graph.value(id).type;
    const bool nothingComputed =
        computed.dtype == DataType::Undefined && !computed.shape.ranked && computed.container == Container::None;
    if (m_options.declared == DeclaredTypes::Fill) return nothingComputed ? declared : computed;
    if (auto merged = mergedType(declared, computed)) return std::move(*merged);
    if (computed.dtype == DataType::Undefined) computed.dtype = declared.dtype;
    m_flow.contradicted.push_back(id);
    return computed;
  }

  /// Expresses every extent by what is known; an unknown extent becomes a symbol of its own.
  void settleExtents(TensorType& type, const std::string& value, const std::string& node) {
    for (std::size_t axis = 0; axis < type.shape.dims.size(); ++axis) {
      Dim& dim = type.shape.dims[axis];
      if (!dim.known()) dim = m_extents.simplified(dim, node);
      if (dim == Dim()) dim = m_extents.ownSymbol(value, axis);
    }
  }

  bool isKnown(const Node& node) const {
    return std::ranges::all_of(
        node.outputs, [&](ValueId output) { return !output.valid() || m_flow.known[output.index] != nullptr; });
  }

  Status computeValues(const Node& node, const std::vector<const Tensor*>& constants) {
    if (!isComputable(node) || isKnown(node)) return Done{};
    std::size_t inputBytes = 0;
    for (std::size_t i = 0; i < constants.size(); ++i) {
      if (i < node.inputs.size() && !node.inputs[i].valid()) continue;
      if (constants[i] == nullptr || !hasArithmetic(constants[i]->type())) return Done{};
      if (constants[i]->container() != Container::None) return Done{};
      inputBytes += constants[i]->byteSize();
    }
    for (const ValueId output : node.outputs)
      if (output.valid() && !affordable(m_flow.types[output.index], inputBytes)) return Done{};
    std::vector<Tensor> results = TRY(runNode(node, constants));
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
      if (node.outputs[i].valid())
        m_flow.known[node.outputs[i].index] = std::make_shared<const Tensor>(std::move(results[i]));
    return Done{};
  }

  bool affordable(const TensorType& type, std::size_t inputBytes) const {
    const auto dims = type.container == Container::None ? type.shape.fixed() : std::nullopt;
    const auto count = dims ? elementCount(*dims) : std::nullopt;
    if (!count) return false;
    if (m_options.compute == ComputeValues::Small) return *count <= kSmallCount;
    return *count <= (std::int64_t{1} << 40) && byteSize(type.dtype, *count) <= inputBytes + kMostGrowth;
  }

  /// Arithmetic of shapes needs no data, only extents. Computes what is known of each element of the result, and
  /// returns true if the whole value is known.
  bool computeShapeValues(const Node& node, const SymbolicInputs& inputs) {
    if (node.outputs.size() != 1 || !node.outputs[0].valid()) return false;
    const ValueId output = node.outputs[0];
    const TensorType& type = m_flow.types[output.index];
    auto values = symbolicResult(node, inputs, type);
    if (!values) return false;
    const auto tensor = tensorOf(*values, type);
    if (tensor) m_flow.known[output.index] = std::make_shared<const Tensor>(*tensor);
    m_symbolic[output.index] = std::move(values);
    return tensor.has_value();
  }

  const Graph& m_graph;
  TypeFlowOptions m_options;
  TypeFlow m_flow;
  OpenExtents m_extents;
  std::vector<std::optional<SymbolicInts>> m_symbolic;  ///< for values that may be shapes, by ValueId
  GreatestElements m_greatest;
  std::map<ValueId, TensorType> m_named;  ///< the types of the inputs as they were given
};

std::optional<Dim> mergedDim(const Dim& declared, const Dim& computed) {
  if (declared.known() && computed.known()) {
    if (declared.size != computed.size) return std::nullopt;
    return computed;
  }
  if (computed.known() || !computed.symbol.empty()) return computed;
  return declared;
}

}  // namespace

bool isComputable(const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr || !schema->kernel || !schema->deterministic || node.is("DequantizeLinear")) return false;
  return !hasBody(node);
}

std::optional<TensorType> mergedType(const TensorType& declared, const TensorType& computed) {
  TensorType merged = computed;
  const bool bothKnown = declared.dtype != DataType::Undefined && computed.dtype != DataType::Undefined;
  if (bothKnown && declared.container != computed.container) return std::nullopt;
  if (computed.dtype == DataType::Undefined) {
    merged.dtype = declared.dtype;
    merged.container = declared.container;
  } else if (declared.dtype != DataType::Undefined && declared.dtype != computed.dtype) {
    return std::nullopt;
  }
  if (!computed.shape.ranked) {
    merged.shape = declared.shape;
    return merged;
  }
  if (!declared.shape.ranked) return merged;
  if (declared.shape.rank() != computed.shape.rank()) return std::nullopt;
  for (std::size_t i = 0; i < merged.shape.dims.size(); ++i) {
    const auto dim = mergedDim(declared.shape.dims[i], computed.shape.dims[i]);
    if (!dim) return std::nullopt;
    merged.shape.dims[i] = *dim;
  }
  return merged;
}

Result<TypeFlow> flowTypes(const Graph& graph, const std::vector<TensorType>& inputs, const TypeFlowOptions& options,
                           const StopToken& stop) {
  Walk walk(graph, options);
  for (int round = 1; round <= kMostWalks; ++round) {
    if (round == kMostWalks) walk.extents().freeze();
    for (std::size_t i = 0; i < graph.inputs().size(); ++i)
      walk.setInput(graph.inputs()[i], inputs.at(i), i < options.knownInputs.size() ? options.knownInputs[i] : nullptr);
    for (const NodeId id : graph.order()) {
      TRY(checkStop(stop));
      TRY(walk.visit(graph.node(id)));
    }
    if (!walk.extents().hasLearnedSinceLastCall()) break;
    walk.again();
  }
  return walk.take();
}

}  // namespace fusescope
