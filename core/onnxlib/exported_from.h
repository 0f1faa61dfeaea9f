#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusescope::onnxlib {

/// What PyTorch's exporter records on a node: the node of the exported program that it was made of, after the
/// exporter's own passes. Texts are empty if nothing was recorded.
struct ExportedFrom {
  std::string node;         ///< "linear_4"
  std::string target;       ///< "aten.linear.default"
  std::string module;       ///< "encoder.layer.3"; empty for the outermost module
  std::string trace;        ///< the source lines of the node, as Python prints a trace
  std::string programNode;  ///< if our probe exported it: the node of the program before all passes
};

/// Returns the records by position of the node in the main graph. It is an error if the file cannot be read.
Result<std::vector<ExportedFrom>> exportedFrom(const std::filesystem::path& path);

}  // namespace fusescope::onnxlib
