#include "calibration/smooth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/users.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// The node whose result is an edge, and the constants of this node with one number, or one row, per channel.
struct ChannelSource {
  NodeId node;
  std::vector<std::size_t> operands;  ///< the operands of the node that are these constants
  std::vector<ValueId> edges;         ///< the edges from the node to the products
};

class Smoother {
 public:
  Smoother(const Graph& graph, std::span<const Product> products, GraphEditor& editor, Ranges& ranges)
      : m_graph(graph), m_editor(editor), m_ranges(ranges) {
    for (const Product& product : products) m_bySource[product.source].push_back(product);
  }

  std::vector<Decision> run() {
    for (const auto& [source, readers] : m_bySource) consider(source, readers);
    return std::move(m_decisions);
  }

 private:
  void consider(ValueId source, const std::vector<Product>& readers) {
    const auto seen = m_ranges.channels.find(m_graph.value(source).name);
    const bool all = m_graph.value(source).consumers.size() == readers.size() && !m_graph.isOutput(source);
    if (seen == m_ranges.channels.end() || !all) return;
    const bool grouped = std::ranges::any_of(
        readers, [&](const Product& product) { return m_graph.node(product.node).intAttribute("group", 1) != 1; });
    const auto origin = originOf(source, seen->second.largest.size());
    if (grouped || !origin) return;
    const std::vector<float> scales = scalesOf(seen->second.largest, readers);
    if (scales.empty()) return;
    for (const std::size_t operand : origin->operands) rewrite(origin->node, operand, scales, 0, true);
    for (const Product& product : readers) rewrite(product.node, 1, scales, product.sumAxis, false);
    for (const ValueId edge : origin->edges) rescale(edge, seen->second.largest, scales);
    rescaleStatistics(seen->second, scales);
    const auto [least, most] = std::ranges::minmax(scales);
    m_decisions.push_back(
        decide("quantize.smoothed",
               {Subject::node(m_graph.node(origin->node).name), Subject::value(m_graph.value(source).name)}, "ranges",
               {{"value", m_graph.value(source).name},
                {"least", fmt::format("{:.3g}", least)},
                {"most", fmt::format("{:.3g}", most)}}));
  }

  std::optional<ChannelSource> originOf(ValueId value, std::size_t channels) const {
    ChannelSource origin;
    for (;;) {
      origin.edges.push_back(value);
      origin.node = m_graph.value(value).producer;
      if (!m_graph.has(origin.node)) return std::nullopt;
      const Node& node = m_graph.node(origin.node);
      if (!node.is("Relu")) break;
      value = node.input(0);
      if (!hasSingleUse(m_graph, value)) return std::nullopt;
    }
    const Node& node = m_graph.node(origin.node);
    const bool conv = node.is("Conv"), norm = node.is("LayerNormalization") && node.intAttribute("axis", -1) == -1;
    if (!conv && !norm) return std::nullopt;
    for (const std::size_t operand : {1, 2}) {
      if (!node.input(operand).valid()) continue;
      const Tensor* constant = m_graph.constantData(node.input(operand));
      const bool fits = constant != nullptr && constant->type() == DataType::F32 && !constant->dims().empty() &&
                        constant->dims()[0] == static_cast<std::int64_t>(channels) &&
                        (operand == 2 || conv || constant->dims().size() == 1);
      if (!fits) return std::nullopt;
      origin.operands.push_back(operand);
    }
    return origin.operands.empty() ? std::nullopt : std::optional(origin);
  }

  /// Returns the divisor of each channel: largest^strength / weights^(1 - strength). Empty if the weights do not fit.
  std::vector<float> scalesOf(const std::vector<float>& largest, const std::vector<Product>& readers) const {
    std::vector<float> weights(largest.size(), 0);
    for (const Product& product : readers) {
      const Tensor& numbers = *m_graph.constantData(product.weights);
      if (numbers.dims()[static_cast<std::size_t>(product.sumAxis)] != std::ssize(largest)) return {};
      const auto data = numbers.data<float>();
      for (std::size_t i = 0; i < data.size(); ++i) {
        float& most = weights[channelOf(numbers.dims(), product.sumAxis, i)];
        most = std::max(most, std::abs(data[i]));
      }
    }
    const auto strength = static_cast<float>(m_ranges.settings.smoothing);
    std::vector<float> scales(largest.size(), 1);
    for (std::size_t c = 0; c < scales.size(); ++c)
      if (largest[c] > 0 && weights[c] > 0)
        scales[c] = std::clamp(std::pow(largest[c], strength) / std::pow(weights[c], 1 - strength), 1e-5F, 1e5F);
    return scales;
  }

  static std::size_t channelOf(const Dims& dims, std::int64_t axis, std::size_t element) {
    std::size_t inner = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < dims.size(); ++i)
      inner *= static_cast<std::size_t>(dims[i]);
    return element / inner % static_cast<std::size_t>(dims[static_cast<std::size_t>(axis)]);
  }

  /// Gives the node a constant of its own, in which each channel is divided or multiplied.
  void rewrite(NodeId node, std::size_t operand, const std::vector<float>& scales, std::int64_t axis, bool divide) {
    const ValueId now = m_editor.current().node(node).inputs[operand];
    const Value& before = m_editor.current().value(now);
    Tensor changed = Tensor::zeros(DataType::F32, before.constant->dims());
    const auto from = before.constant->data<float>();
    const auto to = changed.mutableData<float>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const float scale = scales[channelOf(changed.dims(), axis, i)];
      to[i] = divide ? from[i] / scale : from[i] * scale;
    }
    const std::string name = before.name.ends_with("/smoothed") ? before.name : before.name + "/smoothed";
    m_editor.mutableNode(node).inputs[operand] = m_editor.addConstant(name, std::move(changed));
  }

  /// Scales the range of an edge, which keeps its fraction of the numbers seen and its side of 0.
  void rescale(ValueId edge, const std::vector<float>& largest, const std::vector<float>& scales) {
    const auto known = m_ranges.edges.find(m_graph.value(edge).name);
    if (known == m_ranges.edges.end()) return;
    double before = 0, now = 0;
    for (std::size_t c = 0; c < scales.size(); ++c) {
      before = std::max(before, static_cast<double>(largest[c]));
      now = std::max(now, static_cast<double>(largest[c] / scales[c]));
    }
    const double factor = before > 0 ? now / before : 1;
    ValueRange& range = known->second.range;
    range = {range.low < 0 ? -range.largest() * factor : 0, range.high > 0 ? range.largest() * factor : 0};
    known->second.histogram.reset();
  }

  static void rescaleStatistics(ChannelStatistics& seen, const std::vector<float>& scales) {
    for (std::size_t c = 0; c < scales.size(); ++c) {
      seen.mean[c] /= scales[c];
      seen.largest[c] /= scales[c];
    }
  }

  const Graph& m_graph;
  GraphEditor& m_editor;
  Ranges& m_ranges;
  std::map<ValueId, std::vector<Product>> m_bySource;
  std::vector<Decision> m_decisions;
};

}  // namespace

std::vector<Decision> smoothPairs(const Graph& graph, std::span<const Product> products, GraphEditor& editor,
                                  Ranges& ranges) {
  return Smoother(graph, products, editor, ranges).run();
}

}  // namespace fusescope
