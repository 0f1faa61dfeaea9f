#include "compilers/openvino/op_nodes.h"

#include <algorithm>

namespace fusescope {
namespace {

class OpBinder {
 public:
  OpBinder(const ImportedNetwork& imported, const TensorGraph& file) : m_imported(imported), m_file(file) {
    m_place.resize(file.nodes().size(), 0);
    for (std::uint32_t i = 0; i < file.order().size(); ++i) m_place[file.order()[i]] = i;
  }

  OpNodes run() {
    bindTensors();
    bindOps();
    return std::move(m_bound);
  }

 private:
  static constexpr std::uint32_t kNone = OpNodes::kNone;
  /// Marks an operator whose readers are parts of several nodes.
  static constexpr std::uint32_t kSeveral = kNone - 1;

  /// Returns the tensor to which the names of an output refer. The result of an Identity is its input, so that the
  /// tensor that is calculated first is used.
  std::uint32_t tensorOf(const std::vector<std::string>& names) const {
    std::uint32_t first = kNone;
    for (const std::string& name : names) {
      const std::uint32_t tensor = m_file.findTensor(name);
      if (tensor != kNone && (first == kNone || isMadeBefore(tensor, first))) first = tensor;
    }
    return first;
  }

  bool isMadeBefore(std::uint32_t tensor, std::uint32_t other) const {
    const std::uint32_t maker = m_file.tensor(tensor).producer, otherMaker = m_file.tensor(other).producer;
    return otherMaker != kNone && (maker == kNone || m_place[maker] < m_place[otherMaker]);
  }

  void bindTensors() {
    for (const ImportedOp& op : m_imported.ops) {
      auto& tensors = m_bound.tensors.emplace_back();
      std::uint32_t node = kNone;
      for (const auto& names : op.outputs) {
        tensors.push_back(op.type == "Result" ? kNone : tensorOf(names));
        if (tensors.back() != kNone && node == kNone) node = m_file.tensor(tensors.back()).producer;
      }
      m_bound.nodes.push_back(node);
      m_bound.makesTensor.push_back(node != kNone);
    }
  }

  /// Binds the operators from the last to the first. An operator without a tensor of its own is part of the node that
  /// reads it.
  void bindOps() {
    for (std::uint32_t i = static_cast<std::uint32_t>(m_imported.ops.size()); i-- > 0;) {
      if (m_bound.nodes[i] == kSeveral) m_bound.nodes[i] = kNone;
      const std::uint32_t node = m_bound.nodes[i];
      if (node == kNone) continue;
      for (const ImportedOp::Input& input : m_imported.op(i).inputs) {
        const bool hasTensor = std::ranges::any_of(m_bound.tensors[input.op], [](auto t) { return t != kNone; });
        const std::string& type = m_imported.op(input.op).type;
        if (hasTensor || type == "Constant" || type == "Parameter") continue;
        std::uint32_t& known = m_bound.nodes[input.op];
        known = known == kNone || known == node ? node : kSeveral;
      }
    }
  }

  const ImportedNetwork& m_imported;
  const TensorGraph& m_file;
  std::vector<std::uint32_t> m_place;  ///< by node: in the order of the graph
  OpNodes m_bound;
};

}  // namespace

OpNodes opNodes(const ImportedNetwork& imported, const TensorGraph& file) {
  return OpBinder(imported, file).run();
}

}  // namespace fusescope
