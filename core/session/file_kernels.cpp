#include "session/file_kernels.h"

#include "ir/graph.h"

namespace fusescope {

FileKernels::FileKernels(const Cover& cover) {
  const auto& origins = unquantized(cover.model)->origins;
  for (const FusedNode& fused : cover.fusedNodes)
    for (const NodeId node : fused.nodes)
      for (const OriginId origin : cover.graph().node(node).origins)
        if (origin.index < origins.size()) m_names[origins[origin.index].name].insert(fused.name);
}

const std::set<std::string>& FileKernels::namesOf(const std::string& node) const {
  static const std::set<std::string> kNone;
  const auto found = m_names.find(node);
  return found == m_names.end() ? kNone : found->second;
}

}  // namespace fusescope
