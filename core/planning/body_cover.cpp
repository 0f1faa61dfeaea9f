#include "planning/body_cover.h"

#include <algorithm>

namespace fusescope {

const Cover* bodyCover(const Cover& cover, NodeId holder, std::string_view attribute) {
  const auto found = std::ranges::find_if(
      cover.bodies, [&](const CoverBody& body) { return body.holder == holder && body.attribute == attribute; });
  return found == cover.bodies.end() ? nullptr : found->cover.get();
}

}  // namespace fusescope
