#include "ir/model.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

const Model* Model::body(NodeId holder, std::string_view attribute) const {
  const auto found = std::ranges::find_if(
      bodies, [&](const ModelBody& body) { return body.holder == holder && body.attribute == attribute; });
  return found == bodies.end() ? nullptr : found->model.get();
}

const std::string& Model::sourceOf(const Node& node) const {
  static const std::string kNone;
  for (const OriginId origin : node.origins)
    if (const std::string& source = origins[origin.index].source; !source.empty()) return source;
  return kNone;
}

}  // namespace fusescope
