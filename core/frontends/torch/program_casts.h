#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

/// A node of an exported program that keeps the type its author gave it, and why.
struct KeptNode {
  std::string node, why;  ///< `why` reads behind the node's name: "changes a value in place"
};

/// An exported program in which nodes calculate in a narrower float: PyTorch's casts (aten._to_copy) stand around them.
struct CastProgram {
  std::string json;            ///< of the program, as the archive holds it
  std::int64_t narrowed = 0;   ///< nodes
  std::int64_t casts = 0;      ///< that were added
  std::vector<KeptNode> kept;  ///< nodes that were to be narrow, and are not
};

/// The JSON `program` of an exported program with the floats (float32) that `nodes` read and make in `low`, f16 or
/// bf16. Between two such nodes no value is widened. All other values keep their types, so that every other node, the
/// inputs and the outputs stay as they are. What a node was told about types stays, too. Errors: it is no exported
/// program; it holds numbers that JSON does not have.
Result<CastProgram> withCasts(const std::string& program, const std::set<std::string>& nodes, DataType low);

}  // namespace fusescope
