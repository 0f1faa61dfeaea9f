#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// An operator of the network after OpenVINO's import.
struct ImportedOp {
  struct Input {
    std::uint32_t op = 0;  ///< the operator that makes it, which comes before this one
    std::uint32_t output = 0;
  };
  std::string name, type;
  std::vector<std::vector<std::string>> outputs{};  ///< for each output, the names of the file's tensors that it is
  std::vector<Input> inputs{};
};

/// A network after OpenVINO's import, before any optimisation. The format is described in compilers/openvino/FORMAT.md.
struct ImportedNetwork {
  std::vector<ImportedOp> ops{};  ///< producers before consumers
  std::unordered_map<std::string, std::uint32_t> byName{};

  const ImportedOp& op(std::uint32_t index) const { return ops[index]; }
};

/// Reads the file that the probe writes. Errors: another format, an operator that reads a later one.
Result<ImportedNetwork> importedNetwork(std::string_view text);

}  // namespace fusescope
