#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "interchange/substitutions/substitution.h"
#include "planning/fusion/norm_match.h"

namespace fusescope {
namespace {

using onnxlib::FileAttribute;

/// The arithmetic of a LayerNormalization, as the fusion rules know it, and weight and bias behind it:
///   x ─ (x - mean) / sqrt(variance + epsilon) ─ [Mul w] ─ [Add b] ─ y
class SpelledOutNorm {
 public:
  SpelledOutNorm(const SiteSearch& search, NormCore core) : m_search(search), m_core(std::move(core)) {}

  std::optional<ReplacedSite> site() {
    const Graph& graph = *match().model().graph;
    if (!m_core.centred || m_core.scale.value.valid() || m_core.bias.value.valid() || !takePlaces(graph))
      return std::nullopt;
    m_input = graph.value(m_core.input).name;
    std::string y = graph.value(m_core.result).name;
    const DataType type = graph.value(m_core.input).type.dtype;
    const auto epsilon = match().number(graph.value(m_core.epsilon).name);
    const auto extents = normalised(graph.value(m_core.result).type);
    if (!epsilon || !extents || type != graph.value(m_core.result).type.dtype || !isFloat(type)) return std::nullopt;
    if (type == DataType::F64) return std::nullopt;  // the operator calculates the statistics in float32
    const std::string scale = affine(y, "Mul", *extents), bias = affine(y, "Add", *extents);
    if (!match().isClosed(m_places, y)) return std::nullopt;
    const auto last = static_cast<std::size_t>(match().values().maker(y));
    const std::string name = match().name(last);
    ReplacedSite site{.gone = m_places};
    std::vector<std::string> inputs{m_input, scale.empty() ? ones(site, y, *extents, type) : scale};
    if (!bias.empty()) inputs.push_back(bias);
    site.made.push_back(fileNodeOf(name, "LayerNormalization", std::move(inputs), y,
                                   {{.name = "axis", .value = -static_cast<std::int64_t>(m_core.axes)},
                                    {.name = "epsilon", .value = static_cast<float>(*epsilon)}}));
    site.at = name;
    return site;
  }

 private:
  const FileMatcher& match() const { return m_search.match; }

  /// The nodes of the file that the core stands for, each whole.
  bool takePlaces(const Graph& graph) {
    for (const NodeId id : m_core.nodes) {
      const Node& node = graph.node(id);
      if (node.is("Cast") || node.origins.size() != 1) return false;
      if (!match().is(node.origins.front().index, node.op)) return false;
      m_places.insert(node.origins.front().index);
    }
    return true;
  }

  std::optional<Dims> normalised(const TensorType& type) const {
    if (!type.shape.ranked || type.shape.rank() < m_core.axes) return std::nullopt;
    Dims dims;
    for (std::size_t i = type.shape.rank() - m_core.axes; i < type.shape.rank(); ++i) {
      if (!type.shape.dims[i].known()) return std::nullopt;
      dims.push_back(type.shape.dims[i].size);
    }
    return dims;
  }

  /// The operand of the node behind `y`, if it is this operator by a constant of these extents; `y` is its result then.
  std::string affine(std::string& y, std::string_view op, const Dims& extents) {
    const auto place = match().onlyReader(y);
    if (!place || !match().is(*place, op)) return {};
    std::string other = match().otherOperand(*place, y);
    const auto constant = match().constant(other);
    if (!constant || constant->dims() != extents) return {};
    m_places.insert(*place);
    y = match().result(*place);
    return other;
  }

  std::string ones(ReplacedSite& site, const std::string& y, const Dims& extents, DataType type) {
    Tensor tensor = Tensor::zeros(DataType::F32, extents);
    for (float& element : tensor.mutableData<float>()) element = 1;
    std::string name = m_search.fresh(y + "_scale");
    site.weights.push_back(fileTensor(name, tensor.converted(type)));
    return name;
  }

  const SiteSearch& m_search;
  NormCore m_core;
  std::set<std::size_t> m_places;
  std::string m_input;
};

Result<std::vector<ReplacedSite>> findSpelledOutNorms(const SiteSearch& search) {
  std::vector<ReplacedSite> sites;
  const Graph& graph = *search.match.model().graph;
  const NormMatcher matcher(graph);
  for (const NodeId id : graph.order()) {
    std::string obstacle;
    auto core = matcher.match(graph.node(id), obstacle);
    if (!core) continue;
    if (auto site = SpelledOutNorm(search, std::move(*core)).site()) sites.push_back(std::move(*site));
  }
  return sites;
}

/// The nodes of one LayerNormalization, whose axes are the last `axes` ones.
ReplacedSite normSpelledOut(const SiteSearch& search, std::size_t place, std::int64_t axes, DataType type) {
  const FileMatcher& match = search.match;
  const onnxlib::FileNode& node = match.node(place);
  const std::string &x = node.inputs[0], &y = match.result(place);
  ReplacedSite site{.gone = {place}};
  const auto add = [&](const std::string& what, const std::string& op, std::vector<std::string> inputs,
                       std::vector<FileAttribute> attributes = {}) {
    const std::string value = search.fresh(y + "_" + what);
    site.made.push_back(
        fileNodeOf(search.fresh(match.name(place) + "_" + what), op, std::move(inputs), value, std::move(attributes)));
    return value;
  };
  std::vector<std::int64_t> last;
  for (std::int64_t axis = -axes; axis < 0; ++axis) last.push_back(axis);
  constexpr std::int64_t kAxesAreOperands = 18;
  const auto mean = [&](const std::string& what, const std::string& of) {
    if (match.opset() < kAxesAreOperands) return add(what, "ReduceMean", {of}, {{.name = "axes", .value = last}});
    return add(what, "ReduceMean", {of, search.integers(site, y + "_" + what + "_axes", last)});
  };
  const std::string off = add("off_mean", "Sub", {x, mean("mean", x)});
  const std::string squares = add("squares", "Mul", {off, off});
  const std::string variance = mean("variance", squares);
  site.at = site.made.back().name;
  const std::string epsilon = search.number(site, y + "_epsilon", match.real(place, "epsilon", 1e-5F), type);
  const std::string root = add("root", "Sqrt", {add("more", "Add", {variance, epsilon})});
  const std::string scaled = add("scaled", "Div", {off, root});
  const bool hasBias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::string& name = match.name(place);
  if (hasBias) {
    const std::string weighted = add("weighted", "Mul", {scaled, node.inputs[1]});
    site.made.push_back(fileNodeOf(name, "Add", {weighted, node.inputs[2]}, y));
  } else {
    site.made.push_back(fileNodeOf(name, "Mul", {scaled, node.inputs[1]}, y));
  }
  return site;
}

Result<std::vector<ReplacedSite>> findNorms(const SiteSearch& search) {
  std::vector<ReplacedSite> sites;
  const FileMatcher& match = search.match;
  for (std::size_t place = 0; place < match.nodes(); ++place) {
    if (!match.is(place, "LayerNormalization")) continue;
    const auto& outputs = match.node(place).outputs;
    const bool isAlone =
        std::ranges::all_of(outputs.begin() + 1, outputs.end(), [](const std::string& name) { return name.empty(); });
    const TensorType type = match.type(match.node(place).inputs[0]);
    std::int64_t axis = match.integer(place, "axis", -1);
    if (axis >= 0 && !type.shape.ranked) continue;
    if (axis >= 0) axis -= static_cast<std::int64_t>(type.shape.rank());
    // Of a narrow float the operator calculates in f32 inside, which its nodes would not.
    const bool isInside = match.integer(place, "stash_type", 1) == onnxlib::elementTypeNumber(DataType::F32);
    if (isAlone && isInside && axis < 0 && type.dtype == DataType::F32)
      sites.push_back(normSpelledOut(search, place, -axis, type.dtype));
  }
  return sites;
}

}  // namespace

Substitution layerNorm() {
  return {.name = "layer-norm",
          .summary =
              "a normalisation over the last axes, spelled out in any way that fusion rules know, becomes "
              "LayerNormalization (opset 17)",
          .inverse = "layer-norm-spelled-out",
          .opset = 17,
          .find = &findSpelledOutNorms};
}

Substitution layerNormSpelledOut() {
  return {.name = "layer-norm-spelled-out",
          .summary = "LayerNormalization in float32 becomes ReduceMean, Sub, Mul, Add, Sqrt and Div",
          .inverse = "layer-norm",
          .find = &findNorms};
}

}  // namespace fusescope
