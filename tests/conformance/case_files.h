#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope::conformance {

/// One input or output of a case. Its files are `test_data_set_N/input_M.pb`.
struct CaseValue {
  std::string name;
  std::string element;  ///< the element type in ONNX's words, in lower case: "float", "bfloat16", "string"
  TensorType type;      ///< container and element type; no extents
};

/// One operator case that generate.py wrote.
struct Case {
  std::string name;
  std::filesystem::path folder;
  std::string domain;
  std::string operatorName;
  bool expanded = false;  ///< the operator's function body stands in its place
  double relative = 0, absolute = 0;
  std::vector<CaseValue> inputs, outputs;

  std::vector<std::filesystem::path> dataSets() const;
};

/// The cases of `folder` whose names match the glob, by name. Errors: not a finished folder of generate.py.
Result<std::vector<Case>> readCases(const std::filesystem::path& folder, const std::string& glob);

}  // namespace fusescope::conformance
