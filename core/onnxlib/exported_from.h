#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusescope::onnxlib {

/// What PyTorch's exporter notes on a node: the node of the exported program that it was made of, as the program has it
/// after the exporter's own passes. Texts are empty where nothing is noted.
struct ExportedFrom {
  std::string node;         ///< "linear_4"
  std::string target;       ///< "aten.linear.default"
  std::string module;       ///< "encoder.layer.3"; of the outermost module: empty
  std::string trace;        ///< the lines of source that it comes from, as Python prints a trace
  std::string programNode;  ///< where our probe exported it: the node of the program before all passes
};

/// By the place of a node in the main graph of the file. Errors: the file cannot be read.
Result<std::vector<ExportedFrom>> exportedFrom(const std::filesystem::path& path);

}  // namespace fusescope::onnxlib
