#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

/// A node of an exported program that keeps the type of its author, and the reason.
struct KeptNode {
  std::string node, why;  ///< `why` continues a sentence that begins with the name: "changes a value in place"
};

/// An exported program in which nodes calculate in a narrower float type, with PyTorch's casts (aten._to_copy) around
/// them.
struct CastProgram {
  std::string json;            ///< JSON of the program, as in the archive
  std::int64_t narrowed = 0;   ///< number of nodes
  std::int64_t casts = 0;      ///< number of casts that were added
  std::vector<KeptNode> kept;  ///< nodes that should be narrow and are not
};

/// Returns the JSON `program` of an exported program in which `nodes` read and make floats (float32) in `low`, which is
/// f16 or bf16. No value is widened between two such nodes. All other values keep their types, so that all other nodes,
/// the inputs and the outputs are unchanged. Type arguments of nodes are unchanged too. It is an error if the text is
/// not an exported program, or if it contains numbers that JSON does not have.
Result<CastProgram> withCasts(const std::string& program, const std::set<std::string>& nodes, DataType low);

}  // namespace fusescope
