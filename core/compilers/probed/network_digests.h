#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace fusescope {

/// Returns separate hashes of the parts of a network that is handed to a compiler: {"operators", "attributes",
/// "extents", "types", "weights"}. They are stored beside the key of an answer and not in it, so that people learn
/// which part of two networks differs. Casts count as types, and short lists of integers that are operands (axes, the
/// extents of a Reshape) as attributes. Returns null if the files contain no ONNX network that can be read.
Json networkDigests(const std::map<std::string, std::filesystem::path>& files);

/// Returns the parts in which two networks differ ("weights"), in the order above. Returns an empty list if one of the
/// arguments is null or contains other parts, because an earlier version wrote it.
std::vector<std::string> partsThatDiffer(const Json& here, const Json& nearest);

/// Returns the sentence about these parts: "the weights differ; the operators, attributes, extents and types are the
/// same".
std::string differenceInWords(const std::vector<std::string>& parts);

}  // namespace fusescope
