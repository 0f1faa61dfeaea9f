#include "calibration/quantize_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/name_hints.h"
#include "calibration/edge_choice.h"
#include "calibration/smooth.h"
#include "calibration/weight_codes.h"
#include "passes/pass.h"
#include "passes/prepare_passes.h"

namespace fusescope {

namespace {

TensorType retyped(TensorType type, DataType to) {
  type.dtype = to;
  return type;
}

Tensor zeroPoint(DataType type, std::int32_t zero) {
  return Tensor::copyOf<std::uint8_t>(type, {}, std::array{static_cast<std::uint8_t>(zero)});
}

/// Adds the chosen codes to the graph.
class QuantizeEditor {
 public:
  QuantizeEditor(const Graph& graph, const QuantizeRequest& request, std::vector<Decision>& decisions)
      : m_graph(graph), m_request(request), m_editor(graph), m_decisions(decisions) {}

  void quantizeEdge(const CodedEdge& edge) {
    if (edge.readers.empty()) return;
    const Value& value = m_graph.value(edge.value);
    const ValueId scale = m_editor.addConstant(value.name + "/scale", Tensor::scalar(edge.scale));
    const ValueId zero = m_editor.addConstant(value.name + "/zero_point", zeroPoint(edge.type, edge.zero));
    const ValueId codes = m_editor.addValue(value.name + "/codes", retyped(value.type, edge.type));
    m_editor.addNode({.op = "QuantizeLinear",
                      .name = value.name + "/quantize",
                      .inputs = {edge.value, scale, zero},
                      .outputs = {codes}});
    for (const NodeId reader : edge.readers) {
      const ValueId numbers = m_editor.addValue(value.name + "/dequantized", value.type);
      m_editor.addNode({.op = "DequantizeLinear",
                        .name = value.name + "/dequantize",
                        .inputs = {codes, scale, zero},
                        .outputs = {numbers}});
      std::ranges::replace(m_editor.mutableNode(reader).inputs, edge.value, numbers);
    }
  }

  Status quantizeWeights(const Product& product) {
    const Tensor& weights = *m_graph.constantData(product.weights);
    const Node& node = m_graph.node(product.node);
    const HeldWeights& held = TRY(weightsByRanges(product, weights)).get();
    std::optional<float> shift;
    if (m_request.ranges->settings.correctBiases) shift = correctBias(product, weights, numbersOf(held.codes));
    readCodes(product, held);
    DecisionArguments arguments{{"value", m_graph.value(product.source).name},
                                {"weights", m_graph.value(product.weights).name},
                                {"ranges", held.codes.axis < 0 ? "one range" : "a range for each channel"}};
    m_decisions.push_back(decide("quantize.product", {Subject::node(node.name)}, "ranges", std::move(arguments)));
    if (shift)
      m_decisions.push_back(decide("quantize.bias_corrected", {Subject::node(node.name)}, "ranges",
                                   {{"most", fmt::format("{:.3g}", *shift)}}));
    return Done{};
  }

  /// Quantises the weights of a product that stays in floats; they have two axes.
  void quantizeWeightsAlone(const Product& product) {
    const Tensor& weights = *m_graph.constantData(product.weights);
    const std::vector<Subject> subjects{Subject::node(m_graph.node(product.node).name)};
    if (auto why = whyNoCodes(m_graph, product)) {
      m_decisions.push_back(decide("quantize.weights_not_finite", subjects, "weight_only", std::move(*why)));
      return;
    }
    const DataType type = m_request.weightOnly.type;
    const std::int64_t block = m_request.weightOnly.block;
    const RangeChoice choice{.method = m_request.ranges != nullptr ? m_request.ranges->settings.weightMethod
                                                                   : RangeMethod::Mse};
    const std::int64_t axis = block > 0 ? product.sumAxis : product.outputAxis;
    readCodes(product, held(product.weights, type, axis, block,
                            [&] { return blockCodesOf(weights, type, product.sumAxis, block, choice); }));
    m_decisions.push_back(decide(
        "quantize.weight_only", subjects, "weight_only",
        {{"weights", m_graph.value(product.weights).name},
         {"type", name(type)},
         {"scales", block == 0 ? "a scale for each channel" : fmt::format("a scale for each block of {}", block)}}));
  }

  Result<std::shared_ptr<const Graph>> publish() { return std::move(m_editor).publish(); }

 private:
  /// The codes of a weight, shared by all products that read it in the same way.
  struct HeldWeights {
    WeightCodes codes;
    ValueId value, scale, zero;  ///< ids in the graph that is edited
  };

  /// Quantises weights by the ranges or, if these do not contain them, by all their numbers.
  Result<std::reference_wrapper<const HeldWeights>> weightsByRanges(const Product& product, const Tensor& weights) {
    const Ranges& ranges = *m_request.ranges;
    const auto known = ranges.weights.find(m_graph.value(product.weights).name);
    const bool isKnown = known != ranges.weights.end();
    if (isKnown) TRY(checkRange(product, weights, known->second));
    const std::int64_t axis = isKnown ? known->second.axis : ranges.settings.perChannel ? product.outputAxis : -1;
    return std::cref(held(product.weights, DataType::I8, axis, 0, [&] {
      return codesOf(weights,
                     isKnown ? known->second : weightRangeOf(weights, axis, {.method = ranges.settings.weightMethod}));
    }));
  }

  Status checkRange(const Product& product, const Tensor& weights, const WeightRange& range) const {
    const std::string& name = m_graph.value(product.weights).name;
    const std::int64_t extent = weights.dims()[static_cast<std::size_t>(product.outputAxis)];
    const std::int64_t channels = range.axis < 0 ? 1 : extent;
    if ((range.axis < 0 || range.axis == product.outputAxis) && std::ssize(range.largest) == channels) return Done{};
    return Diagnostic{
        .message = fmt::format("the ranges of weight {} have {} channels along axis {}, but the weight has {} "
                               "along axis {}",
                               name, range.largest.size(), range.axis, extent, product.outputAxis),
        .where = {.value = name},
        .help = "The ranges belong to another network. Record ranges of this network with fusescope calibrate."};
  }

  /// `make` computes the codes if they do not exist yet.
  template <class Make>
  const HeldWeights& held(ValueId weights, DataType type, std::int64_t axis, std::int64_t block, const Make& make) {
    const auto [place, isNew] = m_weights.try_emplace({weights, type, axis, block});
    HeldWeights& held = place->second;
    if (!isNew) return held;
    const std::string& name = m_graph.value(weights).name;
    held.codes = make();
    held.value = m_editor.addConstant(name + "/codes", held.codes.codes);
    held.scale = m_editor.addConstant(name + "/scale", held.codes.scales);
    held.zero = m_editor.addConstant(name + "/zero_point", Tensor::zeros(type, held.codes.scales.dims()));
    return held;
  }

  /// Gives the product a DequantizeLinear of its own.
  void readCodes(const Product& product, const HeldWeights& held) {
    const Value& weights = m_graph.value(product.weights);
    const ValueId numbers = m_editor.addValue(weights.name + "/dequantized", weights.type);
    Node dequantize{.op = "DequantizeLinear",
                    .name = weights.name + "/dequantize",
                    .inputs = {held.value, held.scale, held.zero},
                    .outputs = {numbers}};
    if (held.codes.axis >= 0) dequantize.attributes["axis"] = held.codes.axis;
    if (held.codes.block > 0) dequantize.attributes["block_size"] = held.codes.block;
    m_editor.addNode(std::move(dequantize));
    m_editor.mutableNode(product.node).inputs[1] = numbers;
  }

  /// Adds to the bias the sum, over the summed channels, of (weights - numbers of their codes) · the channel's mean.
  /// This is the effect of rounding the weights on the mean of the result, apart from borders. Returns the largest
  /// change, or nothing if the means or a place for a bias are missing.
  std::optional<float> correctBias(const Product& product, const Tensor& weights, const Tensor& rounded) {
    const Node& node = m_graph.node(product.node);
    const auto seen = m_request.ranges->channels.find(m_graph.value(product.source).name);
    const bool hasPlace = node.is("Conv") || node.is("Gemm");
    if (seen == m_request.ranges->channels.end() || !hasPlace) return std::nullopt;
    const std::vector<float>& mean = seen->second.mean;
    const Dims& dims = weights.dims();
    const auto outputs = dims[static_cast<std::size_t>(product.outputAxis)];
    const auto inputs = dims[static_cast<std::size_t>(product.sumAxis)];
    const std::int64_t groups = node.intAttribute("group", 1), inner = weights.count() / (outputs * inputs);
    if (std::ssize(mean) != inputs * groups) return std::nullopt;
    const ValueId old = node.input(2);
    if (old.valid() && (m_graph.constantData(old) == nullptr || m_graph.constantData(old)->count() != outputs))
      return std::nullopt;
    std::vector<double> change(static_cast<std::size_t>(outputs), 0.0);
    const auto exact = weights.data<float>(), held = rounded.data<float>();
    const std::int64_t outputStep = product.outputAxis == 0 ? inputs * inner : inner;
    const std::int64_t inputStep = product.outputAxis == 0 ? inner : outputs * inner;
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t i = 0; i < inputs; ++i)
        for (std::int64_t k = 0; k < inner; ++k) {
          const auto at = static_cast<std::size_t>(o * outputStep + i * inputStep + k);
          const std::int64_t channel = o / (outputs / groups) * inputs + i;
          change[static_cast<std::size_t>(o)] +=
              (static_cast<double>(exact[at]) - held[at]) * mean[static_cast<std::size_t>(channel)];
        }
    return addToBias(product, old, change);
  }

  float addToBias(const Product& product, ValueId old, std::span<const double> change) {
    Tensor bias = Tensor::zeros(DataType::F32, {std::ssize(change)});
    float most = 0;
    for (std::size_t o = 0; o < change.size(); ++o) {
      const double before = old.valid() ? m_graph.constantData(old)->asDouble(static_cast<std::int64_t>(o)) : 0;
      bias.mutableData<float>()[o] = static_cast<float>(before + change[o]);
      most = std::max(most, static_cast<float>(std::abs(change[o])));
    }
    const Node& node = m_graph.node(product.node);
    const std::string name = old.valid() ? m_graph.value(old).name : node.name + "/bias";
    const ValueId corrected = m_editor.addConstant(name + "/corrected", std::move(bias));
    std::vector<ValueId>& inputs = m_editor.mutableNode(product.node).inputs;
    inputs.resize(3);
    inputs[2] = corrected;
    return most;
  }

  const Graph& m_graph;
  const QuantizeRequest& m_request;
  GraphEditor m_editor;
  std::vector<Decision>& m_decisions;
  /// The codes of weights. A key consists of the weights, the type of the codes, the axis of the scales, and the number
  /// of elements along it that share one scale.
  std::map<std::tuple<ValueId, DataType, std::int64_t, std::int64_t>, HeldWeights> m_weights;
};

/// Checks that the ranges fit the network. If none of their edges is in the network, they belong to another one. Ranges
/// for a body may be empty.
Status checkNames(const Model& model, const Ranges& ranges) {
  const Graph& graph = *model.graph;
  if (ranges.edges.empty() && !model.isBody)
    return Diagnostic{.message = "the ranges contain no value, so nothing can be quantised to int8",
                      .where = {.attribute = "--ranges"},
                      .help = "Run fusescope calibrate again with inputs for which the nodes to be quantised run."};
  const auto known = [&](const auto& edge) { return namesValue(graph, edge.first); };
  if (ranges.edges.empty() || std::ranges::any_of(ranges.edges, known)) return Done{};
  std::vector<std::string> names;
  for (const ValueId value : graph.allValues()) names.push_back(graph.value(value).name);
  const std::string& first = ranges.edges.begin()->first;
  return Diagnostic{.message = fmt::format("none of the {} values in the ranges exists in this network, for example {}",
                                           ranges.edges.size(), first),
                    .where = {.value = first, .attribute = "--ranges"},
                    .help = nearestInWords(first, names, "Record ranges of this network with fusescope calibrate.")};
}

}  // namespace

bool namesValue(const Graph& graph, std::string_view name) {
  if (graph.findValue(name)) return true;
  for (std::size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1))
    if (const auto holder = graph.findNode(name.substr(0, at)); holder && hasBody(graph.node(*holder))) return true;
  return false;
}

Result<Model> smoothed(const Model& model, const QuantizeRequest& request, Ranges& ranges) {
  Model result = model;
  GraphEditor editor(*model.graph);
  append(result.decisions, smoothPairs(*model.graph, chooseEdges(*model.graph, request).products, editor, ranges));
  result.graph = TRY(std::move(editor).publish());
  ranges.settings.smoothing = 0;
  return result;
}

Result<Model> withCodes(const Model& model, const QuantizeRequest& request) {
  const Graph& graph = *model.graph;
  if (request.ranges != nullptr) TRY(checkNames(model, *request.ranges));
  if (request.ranges != nullptr && request.ranges->settings.smoothing > 0) {
    Ranges ranges = *request.ranges;
    const Model alike = TRY(smoothed(model, request, ranges));
    QuantizeRequest rest = request;
    rest.ranges = &ranges;
    return withCodes(alike, rest);
  }
  EdgeChoice choice = chooseEdges(graph, request);
  Model quantized = model;
  append(quantized.decisions, std::move(choice.decisions));
  QuantizeEditor editor(graph, request, quantized.decisions);
  for (const auto& [value, edge] : choice.edges) editor.quantizeEdge(edge);
  for (const Product& product : choice.products) {
    TRY(checkStop(request.stop));
    TRY(editor.quantizeWeights(product));
  }
  for (const Product& product : choice.floats) {
    const bool isMatrix = graph.constantData(product.weights)->dims().size() == 2;
    if (request.weightOnly.type != DataType::Undefined && isMatrix) editor.quantizeWeightsAlone(product);
    TRY(checkStop(request.stop));
  }
  quantized.graph = TRY(editor.publish());
  return quantized;
}

Result<Model> quantize(const Model& model, const QuantizeRequest& request) {
  Model quantized = TRY(withCodes(model, request));
  PassManager tidy;  // normalises the graph as if the network had contained codes when it was read
  tidy.add(moveCodes()).add(removeNoOps()).add(removeDead()).add(inferTypes());
  TRY(tidy.run(quantized, {}, request.stop));
  return quantized;
}

}  // namespace fusescope
