#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// An operator of the network as OpenVINO imported it.
struct ImportedOp {
  struct Input {
    std::uint32_t op = 0;  ///< that makes it, before this one
    std::uint32_t output = 0;
  };
  std::string name, type;
  std::vector<std::vector<std::string>> outputs{};  ///< the names of tensors of the file that each output is
  std::vector<Input> inputs{};
};

/// A network as OpenVINO imported it, before it optimised anything. Format: compilers/openvino/FORMAT.md.
struct ImportedNetwork {
  std::vector<ImportedOp> ops{};  ///< producers before consumers
  std::unordered_map<std::string, std::uint32_t> byName{};

  const ImportedOp& op(std::uint32_t index) const { return ops[index]; }
};

/// Reads the file that the probe writes. Errors: not of that format, an operator that reads what comes after it.
Result<ImportedNetwork> importedNetwork(std::string_view text);

}  // namespace fusescope
