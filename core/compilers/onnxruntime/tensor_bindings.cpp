#include "compilers/onnxruntime/tensor_bindings.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace fusescope::onnxruntime {
namespace {

using onnxlib::FileNode;
constexpr std::string_view kNchwc = "com.microsoft.nchwc";

/// Returns `text` without the "_token_N" that ONNX Runtime appends to a name that is already used.
std::string_view withoutToken(std::string_view text) {
  const auto at = text.rfind("_token_");
  if (at == std::string_view::npos || at + 7 == text.size()) return text;
  const bool isNumber =
      std::ranges::all_of(text.substr(at + 7), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return isNumber ? text.substr(0, at) : text;
}

std::string_view withoutSuffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : std::string_view();
}

std::int64_t integerOf(const FileNode& node, std::string_view key) {
  const onnxlib::FileAttribute* attribute = node.attribute(key);
  const auto* value = attribute == nullptr ? nullptr : std::get_if<std::int64_t>(&attribute->value);
  return value == nullptr ? 0 : *value;
}

std::string textOf(const FileNode& node, std::string_view key) {
  const onnxlib::FileAttribute* attribute = node.attribute(key);
  const auto* value = attribute == nullptr ? nullptr : std::get_if<std::string>(&attribute->value);
  return value == nullptr ? std::string() : *value;
}

/// Returns whether a Transpose moves the channels after the other extents (`toLast`), or back.
bool movesChannels(const FileNode& node, bool toLast) {
  const onnxlib::FileAttribute* attribute = node.attribute("perm");
  const auto* perm = attribute == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&attribute->value);
  if (node.op != "Transpose" || perm == nullptr || perm->size() < 3 || perm->front() != 0) return false;
  const auto rank = static_cast<std::int64_t>(perm->size());
  for (std::int64_t i = 1; i < rank; ++i) {
    const std::int64_t from = toLast ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
    if ((*perm)[static_cast<std::size_t>(i)] != from) return false;
  }
  return true;
}

bool isChannelsLast(const FileNode& node) {
  return integerOf(node, "channels_last") == 1 || node.op.starts_with("Nhwc");
}

/// Lists operators that accept channels on any axis, so that their results have the layout of their inputs.
bool followsLayout(const FileNode& node) {
  constexpr std::array<std::string_view, 18> ops{
      "Add",    "Mul",  "Sub",       "Relu",        "Clip",           "Sigmoid", "LeakyRelu",
      "Concat", "Tanh", "HardSwish", "HardSigmoid", "QuantizeLinear", "Resize",  "DequantizeLinear",
      "Elu",    "Gelu", "QuickGelu", "FastGelu"};
  return node.op.starts_with("QLinear") || std::ranges::find(ops, node.op) != ops.end();
}

/// Returns which operand of a kernel over codes is the scale of its result; nullopt for other kernels.
std::optional<std::size_t> scaleOfResult(const FileNode& node) {
  if (node.op == "QLinearConv" || node.op == "QLinearMatMul" || node.op == "QLinearAdd" || node.op == "QLinearMul")
    return 6;
  if (node.op == "QLinearConcat") return 0;
  if (node.op == "QGemm") return 7;
  if (node.op == "QLinearWhere") return 7;
  return node.op.starts_with("QLinear") ? std::optional<std::size_t>(3) : std::nullopt;
}

class Binder {
 public:
  Binder(const Network& network, Optimised& optimised)
      : m_network(network), m_graph(network.graph), m_optimised(optimised) {}

  void run() {
    for (std::uint32_t i = 0; i < m_optimised.bindings.size(); ++i) bindByName(i);
    for (const std::uint32_t node : m_optimised.graph.order()) {
      findLayout(node);
      bindResult(node);
    }
    const auto& order = m_optimised.graph.order();
    for (auto node = order.rbegin(); node != order.rend(); ++node) bindOperand(*node);
  }

 private:
  TensorBinding& bindingOf(std::uint32_t tensor) { return m_optimised.bindings[tensor]; }
  const TensorGraph::Node& kernel(std::uint32_t index) const { return m_optimised.graph.node(index); }
  std::uint32_t bound(std::uint32_t tensor) const {
    return tensor == kNone ? kNone : m_optimised.bindings[tensor].tensor;
  }

  void bindByName(std::uint32_t index) {
    constexpr std::string_view castPrefix = "InsertedPrecisionFreeCast_";
    std::string_view name = m_optimised.graph.tensor(index).name;
    std::uint32_t found = m_graph.findTensor(name);
    bool isOtherType = false;
    while (found == kNone && name.starts_with(castPrefix)) {
      name.remove_prefix(castPrefix.size());
      found = m_graph.findTensor(name);
      isOtherType = true;
    }
    if (found == kNone)
      if (const auto at = name.rfind("/duplicated"); at != std::string_view::npos)
        found = m_graph.findTensor(name.substr(0, at));
    if (found != kNone && agree(index, found, isOtherType)) {
      bindingOf(index).tensor = found;
      bindingOf(index).isNamed = true;
    }
  }

  /// Returns whether types and extents allow a tensor of the optimised network, in ONNX's layout, to be `tensor`.
  bool agree(std::uint32_t optimised, std::uint32_t tensor, bool isOtherType) const {
    const KnownType& is = m_optimised.types[optimised];
    const KnownType& was = m_network.types[tensor];
    if (!isOtherType && is.type != DataType::Undefined && was.type != DataType::Undefined && is.type != was.type)
      return false;
    if (!is.extents || !was.extents) return true;
    return std::ranges::equal(*is.extents, *was.extents,
                              [](std::int64_t a, std::int64_t b) { return a == b || a < 0 || b < 0; });
  }

  void findLayout(std::uint32_t index) {
    const TensorGraph::Node& node = kernel(index);
    const Layout layout = layoutOfResults(node);
    for (const std::uint32_t made : node.makes)
      if (made != kNone && !bindingOf(made).isNamed) bindingOf(made).layout = layout;
  }

  Layout layoutOfResults(const TensorGraph::Node& node) const {
    if (node.file->domain == kNchwc) return node.file->op == "ReorderOutput" ? Layout::Plain : Layout::Blocked;
    if (isChannelsLast(*node.file)) return Layout::ChannelsLast;
    if (movesChannels(*node.file, true) && isReadChannelsLast(node)) return Layout::ChannelsLast;
    if (!followsLayout(*node.file)) return Layout::Plain;
    for (const std::uint32_t read : node.reads)
      if (read != kNone && m_optimised.bindings[read].layout != Layout::Plain) return m_optimised.bindings[read].layout;
    return Layout::Plain;
  }

  bool isReadChannelsLast(const TensorGraph::Node& node) const {
    return !node.makes.empty() && node.makes[0] != kNone &&
           std::ranges::any_of(m_optimised.graph.tensor(node.makes[0]).consumers,
                               [&](std::uint32_t consumer) { return isChannelsLast(*kernel(consumer).file); });
  }

  /// Binds the first result of a kernel by what is known about the kernel.
  void bindResult(std::uint32_t index) {
    const TensorGraph::Node& node = kernel(index);
    if (node.makes.empty() || node.makes[0] == kNone || bound(node.makes[0]) != kNone) return;
    const Layout layout = bindingOf(node.makes[0]).layout;
    std::uint32_t found = kNone;
    if (isReformat(node)) {
      found = node.reads.empty() ? kNone : bound(node.reads[0]);
    } else if (node.file->domain == kNchwc) {
      found = blockedResult(node);
    } else if (scaleOfResult(*node.file)) {
      found = codesResult(node);
    } else if (layout == Layout::Blocked) {
      found = sameNode(node);
      if (found == kNone) found = lastFused(node);
    } else {
      found = sameCodes(node);
    }
    if (found != kNone && (layout != Layout::Plain || agree(node.makes[0], found, areCodes(node.makes[0], found))))
      bindingOf(node.makes[0]).tensor = found;
  }

  /// Returns whether a kernel only changes the layout of its operand.
  bool isReformat(const TensorGraph::Node& node) const {
    if (node.file->domain == kNchwc) return node.file->op == "ReorderInput" || node.file->op == "ReorderOutput";
    if (node.reads.empty() || node.reads[0] == kNone || node.makes.empty() || node.makes[0] == kNone) return false;
    if (movesChannels(*node.file, true)) return m_optimised.bindings[node.makes[0]].layout == Layout::ChannelsLast;
    return movesChannels(*node.file, false) && m_optimised.bindings[node.reads[0]].layout == Layout::ChannelsLast;
  }

  /// A convolution or pooling has the name of the tensor that it calculated when it was changed to a blocked layout. A
  /// sum and an activation may have been fused with it before that, or later.
  std::uint32_t blockedResult(const TensorGraph::Node& node) const {
    std::uint32_t result = tensorNamedBy(m_graph, node.file->name);
    if (result == kNone || node.file->op != "Conv") return result;
    const std::string activation = textOf(*node.file, "activation");
    if (!activation.empty() && isMadeBy(result, activation)) return result;
    if (node.reads.size() > 3 && node.reads[3] != kNone && !isSumWith(result, bound(node.reads[3])))
      result = sumOf(result, bound(node.reads[3]));
    if (activation.empty() || result == kNone) return result;
    const std::vector<std::uint32_t>& consumers = m_graph.tensor(result).consumers;
    if (consumers.size() != 1 || m_graph.node(consumers[0]).file->op != activation) return kNone;
    return m_graph.node(consumers[0]).makes.empty() ? kNone : m_graph.node(consumers[0]).makes[0];
  }

  bool isMadeBy(std::uint32_t tensor, std::string_view op) const {
    const std::uint32_t producer = m_graph.tensor(tensor).producer;
    return producer != kNone && m_graph.node(producer).file->op == op;
  }

  bool isSumWith(std::uint32_t sum, std::uint32_t operand) const {
    if (!isMadeBy(sum, "Add") || operand == kNone) return false;
    return std::ranges::any_of(m_graph.node(m_graph.tensor(sum).producer).reads, [&](std::uint32_t read) {
      return read != kNone && m_network.equal[read] == m_network.equal[operand];
    });
  }

  std::uint32_t sumOf(std::uint32_t a, std::uint32_t b) const {
    if (b == kNone) return kNone;
    for (const std::uint32_t consumer : m_graph.tensor(a).consumers) {
      const TensorGraph::Node& node = m_graph.node(consumer);
      if (node.file->op != "Add" || node.reads.size() != 2 || node.makes.size() != 1) continue;
      const std::uint32_t other = node.reads[0] == a ? node.reads[1] : node.reads[0];
      if (other != kNone && m_network.equal[other] == m_network.equal[b]) return node.makes[0];
    }
    return kNone;
  }

  /// Returns the codes that the nearest QuantizeLinear after the node of the kernel's name makes with the kernel's
  /// scale.
  std::uint32_t codesResult(const TensorGraph::Node& node) const {
    constexpr std::size_t mostLooked = 16;
    const std::size_t operand = *scaleOfResult(*node.file);
    const std::uint32_t named = nodeNamedBy(m_graph, node.file->name);
    const std::uint32_t scale = operand < node.reads.size() ? bound(node.reads[operand]) : kNone;
    if (named == kNone || scale == kNone) return kNone;
    std::vector<std::uint32_t> looked{named};
    for (std::size_t i = 0; i < looked.size() && looked.size() < mostLooked; ++i)
      for (const std::uint32_t made : m_graph.node(looked[i]).makes) {
        if (made == kNone) continue;
        for (const std::uint32_t consumer : m_graph.tensor(made).consumers) {
          const TensorGraph::Node& next = m_graph.node(consumer);
          if (next.file->op == "QuantizeLinear" && next.reads.size() > 1 && next.reads[1] != kNone &&
              !next.makes.empty() && m_network.equal[next.reads[1]] == m_network.equal[scale])
            return next.makes[0];
          if (std::ranges::find(looked, consumer) == looked.end()) looked.push_back(consumer);
        }
      }
    return kNone;
  }

  /// Returns the codes that a kernel calculates like its node, or moves like its node moves the numbers that they
  /// represent. Signed codes have become unsigned and have another name.
  std::uint32_t sameCodes(const TensorGraph::Node& node) const {
    const std::uint32_t made = sameNode(node);
    if (made == kNone || node.file->op == "QuantizeLinear") return made;
    const std::vector<std::uint32_t>& consumers = m_graph.tensor(made).consumers;
    if (consumers.size() != 1 || m_graph.node(consumers[0]).file->op != "QuantizeLinear") return kNone;
    return m_graph.node(consumers[0]).makes.empty() ? kNone : m_graph.node(consumers[0]).makes[0];
  }

  bool areCodes(std::uint32_t optimised, std::uint32_t tensor) const {
    return isByteInteger(m_optimised.types[optimised].type) && isByteInteger(m_network.types[tensor].type);
  }

  std::uint32_t sameNode(const TensorGraph::Node& node) const {
    const std::uint32_t named = m_graph.findNode(withoutToken(node.file->name));
    if (named == kNone || m_graph.node(named).file->op != node.file->op || m_graph.node(named).makes.size() != 1)
      return kNone;
    return m_graph.node(named).makes[0];
  }

  /// Returns the result of a fused kernel with a blocked layout, which has the name of its last node
  /// ("n14/QuickGeluFusion/").
  std::uint32_t lastFused(const TensorGraph::Node& node) const {
    if (node.file->name.find("Fusion") == std::string::npos) return kNone;
    const std::uint32_t named = nodeNamedBy(m_graph, node.file->name);
    return named == kNone || m_graph.node(named).makes.size() != 1 ? kNone : m_graph.node(named).makes[0];
  }

  /// A value that is read only to be written in another layout is the value that is written.
  void bindOperand(std::uint32_t index) {
    const TensorGraph::Node& node = kernel(index);
    if (!isReformat(node) || node.reads.empty() || node.reads[0] == kNone) return;
    if (node.makes.empty() || node.makes[0] == kNone) return;
    if (bound(node.reads[0]) == kNone && !m_optimised.graph.isConstant(node.reads[0]))
      bindingOf(node.reads[0]).tensor = bound(node.makes[0]);
  }

  const Network& m_network;
  const TensorGraph& m_graph;
  Optimised& m_optimised;
};

}  // namespace

std::string_view name(Layout layout) {
  return layout == Layout::Blocked ? "NCHWc" : layout == Layout::ChannelsLast ? "NHWC" : "";
}

std::uint32_t nodeNamedBy(const TensorGraph& network, std::string_view kernel) {
  constexpr std::string_view fused = "fused ";
  while (!kernel.empty()) {
    if (const std::uint32_t found = network.findNode(kernel); found != kNone) return found;
    if (const std::string_view shorter = withoutToken(kernel); shorter.size() < kernel.size()) {
      kernel = shorter;
    } else if (kernel.starts_with(fused)) {
      kernel.remove_prefix(fused.size());
    } else {
      const auto at = kernel.rfind('/');
      kernel = at == std::string_view::npos ? std::string_view() : kernel.substr(0, at);
    }
  }
  return kNone;
}

std::uint32_t tensorNamedBy(const TensorGraph& network, std::string_view kernel) {
  const std::string_view text = withoutSuffix(withoutToken(kernel), "_nchwc");
  const std::uint32_t found = network.findTensor(text);
  // A BatchNormalization has the suffix _bn.
  return found == kNone ? network.findTensor(withoutSuffix(text, "_bn")) : found;
}

void bindTensors(const Network& network, Optimised& optimised) {
  Binder(network, optimised).run();
}

}  // namespace fusescope::onnxruntime
