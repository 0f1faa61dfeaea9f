#include <algorithm>

#include "interchange/typed_network/graph_retyper.h"

// The edges that a plan holds wider inside a kernel than its network stores between two nodes.

namespace fusescope {

using onnxlib::FileNode;

namespace {

/// Returns whether the node gives the same whether its operand or its result is rounded.
bool goesWithRounding(const FileNode& node, const FileNodeTypes& types) {
  return types.role == FileNodeTypes::Role::Moves ||
         (node.domain.empty() && (node.op == "Relu" || node.op == "Neg" || node.op == "Abs"));
}

}  // namespace

void GraphRetyper::noteWiderInnerEdges() {
  if (m_outer != nullptr) return;
  for (const FileNode& node : m_graph.nodes) {
    for (const std::string& output : node.outputs) {
      const auto found = m_values.find(output);
      if (found == m_values.end()) continue;
      const FileValue& value = found->second;
      if (!value.inner || !m_readers.contains(output) || !isExchangeable(value.held) ||
          holdsAll(value.stored, value.held))
        continue;
      WiderInnerEdge edge{.value = output, .held = value.held, .stored = value.stored, .fused = value.fused};
      edge.between.insert({m_path, value.producer});
      const auto readers = m_readers.find(output);
      for (const auto& [reader, slot] : readers->second) {
        edge.between.insert({m_path, reader});
        const FileNode& reads = m_graph.nodes[reader];
        const bool isRoundedNext = std::ranges::all_of(reads.outputs, [&](const std::string& made) {
          const auto next = m_values.find(made);
          return next == m_values.end() || holdsAll(value.stored, next->second.stored);
        });
        edge.harmless = edge.harmless && isRoundedNext && goesWithRounding(reads, m_types[reader]);
      }
      m_shared.network.widerInnerEdges.push_back(std::move(edge));
    }
  }
}

}  // namespace fusescope
