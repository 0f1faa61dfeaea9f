#include "calibration/edge_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

constexpr const char* kBy = "ranges";

/// Operators that only move elements, so that the numbers are the same before and after them.
constexpr std::array kMoves{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"};

bool isAmong(const Node& node, std::span<const char* const> operators) {
  return node.domain.empty() && std::ranges::find(operators, node.op) != operators.end();
}

/// Returns whether the node averages; it reads codes and is calculated on them where codes already are.
bool averages(const Node& node) {
  return node.is("AveragePool") || node.is("GlobalAveragePool");
}

class EdgeChooser {
 public:
  EdgeChooser(const Graph& graph, const QuantizeRequest& request) : m_graph(graph), m_request(request) {}

  // The steps are: 1. products that can run in integers; 2. the edges that they read; 3. edges that must have the same
  // scale; 4. what is added after convolutions; 5. scales; 6. the readers of the codes.
  EdgeChoice run() {
    for (const NodeId id : m_graph.order())
      if (multiplies(m_graph.node(id))) consider(m_graph.node(id));
    for (const Product& product : m_choice.products) joinGroup(product.source);
    for (const NodeId id : m_graph.order())
      if (m_graph.node(id).is("Add")) considerResidual(m_graph.node(id));
    for (auto& [value, edge] : m_choice.edges) settleScale(edge);
    for (auto& [value, edge] : m_choice.edges) findReaders(edge);
    return std::move(m_choice);
  }

 private:
  const NodeQuantizeRequest& requestOf(NodeId node) const { return m_request.nodeRequests[node.index]; }
  bool mayBeIntegers(NodeId node) const {
    const auto kind = requestOf(node).kind;
    return kind == NodeQuantizeRequest::Kind::None || kind == NodeQuantizeRequest::Kind::Integers;
  }
  std::string nameOf(ValueId value) const { return m_graph.value(value).name; }

  void decided(std::string_view code, std::vector<Subject> subjects, DecisionArguments arguments = {}, Cause by = kBy) {
    m_choice.decisions.push_back(decide(code, std::move(subjects), std::move(by), std::move(arguments)));
  }

  void consider(const Node& node) {
    const std::vector<Subject> subjects{Subject::node(node.name)};
    auto form = productOf(m_graph, node);
    const Product* product = std::get_if<Product>(&form);
    const auto refuse = [&](std::string_view code, DecisionArguments arguments = {}, Cause by = kBy) {
      decided(code, subjects, std::move(arguments), std::move(by));
      if (product != nullptr && requestOf(node.id).kind == NodeQuantizeRequest::Kind::None)
        m_choice.floats.push_back(*product);
    };
    const NodeQuantizeRequest& request = requestOf(node.id);
    if (request.kind == NodeQuantizeRequest::Kind::Floats)
      return refuse("quantize.pinned", {{"pin", request.by}}, Cause::option(request.by));
    if (request.kind == NodeQuantizeRequest::Kind::Fallback)
      return refuse("quantize.fallback", {}, Cause::option(request.by));
    if (m_request.ranges == nullptr) {
      if (product != nullptr) m_choice.floats.push_back(*product);
      return;
    }
    if (request.kind == NodeQuantizeRequest::Kind::Excluded)
      return refuse("quantize.excluded", {{"pattern", request.by}});
    if (!m_request.everyNode && request.kind != NodeQuantizeRequest::Kind::Integers)
      return refuse("quantize.not_asked");
    if (const auto* none = std::get_if<NoProduct>(&form)) return refuse(none->code, none->arguments);
    const std::optional<ValueRange> range = rangeOf(product->source);
    if (!range) return refuse("quantize.no_range", {{"value", nameOf(product->source)}});
    if (scaleOf(*range) == 0) return refuse("quantize.all_zero", {{"value", nameOf(product->source)}});
    if (const auto why = whyNoCodes(m_graph, *product)) return refuse("quantize.weights_not_finite", *why);
    if (const auto priced = m_request.priced.find(node.id);
        priced != m_request.priced.end() && request.kind == NodeQuantizeRequest::Kind::None) {
      decideByPrice(subjects, priced->second);
      if (!priced->second.integers) return m_choice.floats.push_back(*product);
    }
    m_choice.products.push_back(*product);
    m_isProduct.insert(node.id);
  }

  void decideByPrice(const std::vector<Subject>& subjects, const PricedProduct& price) {
    if (!price.known()) return decided("quantize.no_price", subjects, {}, "price_model");
    decided(price.integers ? "quantize.faster" : "quantize.slower", subjects,
            {{"integers_ms", *price.integersMs}, {"floats_ms", *price.floatsMs}}, "price_model");
  }

  /// Returns the range of the value, or of the value of which it is only a rearrangement.
  std::optional<ValueRange> rangeOf(ValueId value) const {
    for (;;) {
      const auto found = m_request.ranges->edges.find(nameOf(value));
      if (found != m_request.ranges->edges.end()) return found->second.range;
      const NodeId producer = m_graph.value(value).producer;
      if (!m_graph.has(producer) || !isAmong(m_graph.node(producer), kMoves)) return std::nullopt;
      value = m_graph.node(producer).input(0);
    }
  }

  double scaleOf(const ValueRange& range) const {
    constexpr double kLeast = 1e-30;  // the smallest number that kernels distinguish from 0
    const double scale = m_request.symmetric ? range.largest() / 127 : (range.high - range.low) / 255;
    return scale < kLeast ? 0 : scale;
  }

  /// Returns the values from which the producer of `value` selects or joins elements, so that they must have the same
  /// scale; otherwise nothing.
  std::vector<ValueId> oneScaleWith(ValueId value) const {
    const NodeId id = m_graph.value(value).producer;
    if (!m_graph.has(id) || !mayBeIntegers(id)) return {};
    const Node& node = m_graph.node(id);
    const bool pools = node.is("MaxPool") && node.outputs.size() == 1, joins = node.is("Concat");
    if (!pools && !joins) return {};
    std::vector<ValueId> before = pools ? std::vector{node.input(0)} : valuesRead(node);
    const bool known = std::ranges::all_of(before, [&](ValueId read) {
      return m_graph.has(m_graph.value(read).producer) && rangeOf(read) && !isOfAuthor(read);
    });
    return known ? before : std::vector<ValueId>();
  }

  bool isOfAuthor(ValueId value) const { return m_graph.node(m_graph.value(value).producer).is("DequantizeLinear"); }

  /// Makes `value` an edge of codes, together with the values that must have its scale. A group is identified by its
  /// first member.
  void joinGroup(ValueId value) {
    std::vector<ValueId> open{value};
    std::size_t group = m_groups.size();
    std::vector<ValueId> members;
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (const auto known = m_groupOf.find(next); known != m_groupOf.end()) {
        if (known->second == group) continue;
        members.insert(members.end(), m_groups[known->second].begin(), m_groups[known->second].end());
        for (const ValueId member : std::exchange(m_groups[known->second], {})) m_groupOf[member] = group;
        continue;
      }
      m_groupOf[next] = group;
      members.push_back(next);
      m_choice.edges.try_emplace(next, CodedEdge{.value = next});
      for (const ValueId before : oneScaleWith(next)) {
        m_grouping.insert(m_graph.value(next).producer);
        open.push_back(before);
      }
    }
    sortDistinct(members);
    m_groups.push_back(std::move(members));
  }

  /// Handles conv(x) + r: one kernel adds r in its epilogue, as codes if r is codes already or a convolution can write
  /// it as codes.
  void considerResidual(const Node& add) {
    if (!mayBeIntegers(add.id) || add.input(0) == add.input(1)) return;
    const auto isMain = [&](ValueId value) {
      const NodeId producer = m_graph.value(value).producer;
      return m_isProduct.contains(producer) && !m_graph.node(producer).is("MatMul") &&
             !m_graph.node(producer).is("Gemm") && hasSingleUse(m_graph, value);
    };
    const bool first = isMain(add.input(0)), second = isMain(add.input(1));
    if (!first && !second) return;
    if (m_graph.value(add.input(0)).type.shape != m_graph.value(add.input(1)).type.shape) return;
    // If there are two convolutions, the later one adds the result of the other.
    const bool secondIsMain = second && (!first || isLater(add.input(1), add.input(0)));
    const ValueId other = add.input(secondIsMain ? 0 : 1);
    if (m_graph.isConstant(other)) return;
    if (!m_choice.edges.contains(other)) {
      const auto range = rangeOf(other);
      const bool isWritten = first && second && range && scaleOf(*range) > 0;
      if (!isWritten) return;
      joinGroup(other);
    }
    m_residuals.emplace(add.id, other);
    decided("quantize.residual", {Subject::node(add.name), Subject::value(nameOf(other))}, {{"value", nameOf(other)}});
  }

  bool isLater(ValueId a, ValueId b) const {
    const auto place = [&](ValueId value) { return std::ranges::find(m_graph.order(), m_graph.value(value).producer); };
    return place(a) > place(b);
  }

  void settleScale(CodedEdge& edge) {
    const std::vector<ValueId>& group = m_groups[m_groupOf.at(edge.value)];
    ValueRange range;
    for (const ValueId member : group) {
      const ValueRange own = rangeOf(member).value_or(ValueRange());
      range = {std::min(range.low, own.low), std::max(range.high, own.high)};
    }
    edge.scale = static_cast<float>(scaleOf(range));
    edge.type = m_request.symmetric ? DataType::I8 : DataType::U8;
    edge.zero = m_request.symmetric ? 0
                                    : static_cast<std::int32_t>(std::clamp(
                                          std::nearbyint(-range.low / static_cast<double>(edge.scale)), 0.0, 255.0));
    std::vector<std::string> others;
    for (const ValueId member : group)
      if (member != edge.value) others.push_back(nameOf(member));
    DecisionArguments arguments{{"value", nameOf(edge.value)},
                                {"type", name(edge.type)},
                                {"scale", fmt::format("{:.6g}", edge.scale)},
                                {"zero", edge.zero}};
    if (others.empty()) return decided("quantize.edge", subjectsOf(edge), std::move(arguments));
    arguments["others"] = others;
    arguments["count"] = others.size();
    decided("quantize.shared_scale", subjectsOf(edge), std::move(arguments));
  }

  std::vector<Subject> subjectsOf(const CodedEdge& edge) const {
    std::vector<Subject> subjects{Subject::value(nameOf(edge.value))};
    const NodeId producer = m_graph.value(edge.value).producer;
    if (m_graph.has(producer)) subjects.push_back(Subject::node(m_graph.node(producer).name));
    return subjects;
  }

  bool readsCodes(const Node& reader, ValueId value) const {
    if (m_isProduct.contains(reader.id)) return reader.input(0) == value;
    if (m_grouping.contains(reader.id)) return true;
    const auto residual = m_residuals.find(reader.id);
    if (residual != m_residuals.end()) return residual->second == value;
    return averages(reader) && mayBeIntegers(reader.id);
  }

  void findReaders(CodedEdge& edge) {
    std::vector<NodeId> readers = m_graph.value(edge.value).consumers;
    sortDistinct(readers);
    for (const NodeId id : readers) {
      const Node& reader = m_graph.node(id);
      if (readsCodes(reader, edge.value)) {
        edge.readers.insert(id);
      } else {
        decided("quantize.read_as_floats", {Subject::node(reader.name), Subject::value(nameOf(edge.value))},
                {{"value", nameOf(edge.value)}, {"op", reader.op}});
      }
    }
  }

  const Graph& m_graph;
  const QuantizeRequest& m_request;
  EdgeChoice m_choice;
  std::set<NodeId> m_isProduct;           ///< products of integers
  std::set<NodeId> m_grouping;            ///< operators that select or join elements, which must have one scale
  std::map<NodeId, ValueId> m_residuals;  ///< for each Add, the value that it adds
  std::map<ValueId, std::size_t> m_groupOf;
  std::vector<std::vector<ValueId>> m_groups;
};

}  // namespace

std::optional<DecisionArguments> whyNoCodes(const Graph& graph, const Product& product) {
  const Tensor& weights = *graph.constantData(product.weights);
  const std::int64_t count = notFiniteIn(weights);
  if (count == 0) return std::nullopt;
  return DecisionArguments{
      {"weights", graph.value(product.weights).name}, {"count", count}, {"elements", weights.count()}};
}

std::vector<ValueId> valuesToObserve(const Graph& graph) {
  std::vector<ValueId> values;
  const auto observe = [&](ValueId value) {
    if (value.valid() && !graph.isConstant(value) && graph.value(value).type.dtype == DataType::F32)
      values.push_back(value);
  };
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto form = multiplies(node) ? std::optional(productOf(graph, node)) : std::nullopt;
    if (form && std::holds_alternative<Product>(*form)) observe(node.input(0));
    if (node.is("MaxPool") || node.is("Concat")) std::ranges::for_each(node.inputs, observe);
    if (!node.is("Add")) continue;
    const auto isConvolved = [&](ValueId value) {
      const NodeId producer = graph.value(value).producer;
      return graph.has(producer) && graph.node(producer).is("Conv");
    };
    if (isConvolved(node.input(0)) && isConvolved(node.input(1))) std::ranges::for_each(node.inputs, observe);
  }
  sortDistinct(values);
  return values;
}

EdgeChoice chooseEdges(const Graph& graph, const QuantizeRequest& request) {
  return EdgeChooser(graph, request).run();
}

}  // namespace fusescope
