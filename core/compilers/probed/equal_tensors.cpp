#include <cstring>
#include <functional>
#include <string>

#include "base/hash.h"
#include "compilers/probed/slices.h"
#include "onnxlib/node_dependence.h"

namespace fusescope {
namespace {

using onnxlib::FileAttribute;
using onnxlib::FileNode;
using onnxlib::FileTensor;

constexpr std::size_t kMostBytesCompared = std::size_t{64} << 10;  ///< the largest initializer that is compared

/// Adds everything that identifies `tensor`, except its name. Returns false if its data are not in this file or are too
/// large to be compared.
bool addTensor(KeyBuilder& key, const FileTensor& tensor) {
  std::size_t elements = 1;
  for (const std::int64_t dim : tensor.dims) {
    if (dim < 0 || __builtin_mul_overflow(elements, static_cast<std::size_t>(dim), &elements)) return false;
    key.number(dim);
  }
  if (!tensor.hasData || elements > kMostBytesCompared) return false;
  key.number(tensor.dtype);
  if (tensor.dtype == DataType::String) {
    for (const std::string& text : tensor.strings) key.text(text);
    return true;
  }
  const std::size_t bytes = byteSize(tensor.dtype, static_cast<std::int64_t>(elements));
  if (bytes > kMostBytesCompared || (bytes > 0 && tensor.data == nullptr)) return false;
  key.bytes({tensor.data, bytes});
  return true;
}

/// Returns false if attributes of this kind are not compared.
bool addAttribute(KeyBuilder& key, const FileAttribute& attribute) {
  key.text(attribute.name).number(attribute.value.index());
  if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    key.number(*integer);
  } else if (const auto* number = std::get_if<float>(&attribute.value)) {
    key.number(*number);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    key.text(*text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    for (const std::int64_t each : *integers) key.number(each);
  } else if (const auto* numbers = std::get_if<std::vector<float>>(&attribute.value)) {
    for (const float each : *numbers) key.number(each);
  } else if (const auto* tensor = std::get_if<FileTensor>(&attribute.value)) {
    return addTensor(key, *tensor);
  } else {
    return false;
  }
  return true;
}

/// Gives each tensor a number, in the order of the graph. Equal tensors get the same number.
class Numbering {
 public:
  explicit Numbering(const TensorGraph& graph) : m_graph(graph), m_first(graph.tensors().size()) {
    for (std::uint32_t i = 0; i < m_first.size(); ++i) m_first[i] = i;
    for (std::uint32_t i = 0; i < m_first.size(); ++i) numberConstant(i);
    for (const std::uint32_t node : graph.order()) numberNode(node);
  }

  std::vector<std::uint32_t> take() { return std::move(m_first); }

 private:
  void numberConstant(std::uint32_t tensor) {
    KeyBuilder key;
    if (m_graph.isConstant(tensor) && addTensor(key, *m_graph.tensor(tensor).initializer))
      m_first[tensor] = m_firstConstant.try_emplace(key.canonical(), tensor).first->second;
  }

  void numberNode(std::uint32_t index) {
    const TensorGraph::Node& node = m_graph.node(index);
    if (const std::uint32_t source = passedOn(m_graph, index); source != TensorGraph::kNone) {
      if (makes(index, node.makes[0])) m_first[node.makes[0]] = m_first[source];
      return;
    }
    const FileNode& file = *node.file;
    if (!file.domain.empty() || onnxlib::isRandom(file)) return;
    KeyBuilder key;
    key.text(file.op).number(node.makes.size());
    for (const std::uint32_t read : node.reads) key.number(read == TensorGraph::kNone ? read : m_first[read]);
    std::map<std::string_view, const FileAttribute*> attributes;
    for (const FileAttribute& attribute : file.attributes) attributes.emplace(attribute.name, &attribute);
    for (const auto& [name, attribute] : attributes)
      if (!addAttribute(key, *attribute)) return;
    const auto [entry, isNew] = m_firstNode.try_emplace(key.canonical(), index);
    if (isNew) return;
    const std::vector<std::uint32_t>& equal = m_graph.node(entry->second).makes;
    for (std::size_t i = 0; i < node.makes.size(); ++i)
      if (makes(index, node.makes[i]) && equal[i] != TensorGraph::kNone) m_first[node.makes[i]] = m_first[equal[i]];
  }

  bool makes(std::uint32_t node, std::uint32_t tensor) const {
    return tensor != TensorGraph::kNone && m_graph.tensor(tensor).producer == node;
  }

  const TensorGraph& m_graph;
  std::vector<std::uint32_t> m_first;
  std::unordered_map<std::string, std::uint32_t> m_firstConstant, m_firstNode;
};

/// Returns whether the input is a constant scalar with this value. Its tensor has no axes, so that it broadcasts
/// nothing.
bool isScalar(const TensorGraph& graph, const TensorGraph::Node& node, std::size_t input, float value) {
  if (input >= node.reads.size() || node.reads[input] == TensorGraph::kNone) return false;
  if (!graph.isConstant(node.reads[input])) return false;
  const FileTensor& tensor = *graph.tensor(node.reads[input]).initializer;
  if (!tensor.dims.empty() || !tensor.hasData || tensor.data == nullptr || tensor.dtype != DataType::F32) return false;
  float held = 0;
  std::memcpy(&held, tensor.data, sizeof held);
  return held == value;
}

}  // namespace

std::uint32_t passedOn(const TensorGraph& graph, std::uint32_t index) {
  const TensorGraph::Node& node = graph.node(index);
  const FileNode& file = *node.file;
  if (!file.domain.empty() || node.reads.empty() || node.makes.empty()) return TensorGraph::kNone;
  const auto input = [&](std::size_t i) { return i < node.reads.size() ? node.reads[i] : TensorGraph::kNone; };
  if (file.op == "Identity") return input(0);
  if (file.op == "Dropout") {
    const bool isTraining = input(2) != TensorGraph::kNone;
    const bool hasMask = node.makes.size() > 1 && node.makes[1] != TensorGraph::kNone;
    return isTraining || hasMask ? TensorGraph::kNone : input(0);
  }
  if (file.op == "Mul" || file.op == "Div") {
    if (isScalar(graph, node, 1, 1)) return input(0);
    if (file.op == "Mul" && isScalar(graph, node, 0, 1)) return input(1);
  }
  if (file.op == "Add" || file.op == "Sub") {
    if (isScalar(graph, node, 1, 0)) return input(0);
    if (file.op == "Add" && isScalar(graph, node, 0, 0)) return input(1);
  }
  return TensorGraph::kNone;
}

std::vector<std::uint32_t> equalTensors(const TensorGraph& graph) {
  return Numbering(graph).take();
}

}  // namespace fusescope
