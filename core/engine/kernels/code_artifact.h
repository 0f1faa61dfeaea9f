#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/kernels/kernel.h"

namespace fusescope {

/// Compiled code in the form in which it is kept.
struct CodeArtifact {
  /// The hash, in hex digits, of the constants that are embedded in the code. The code can be used only for regions in
  /// which they are equal.
  std::string embedded;
  NodeNames names;   ///< names of nodes in its errors
  std::string code;  ///< Code::serialise()

  std::string text() const;
  /// Reads what text() wrote; returns nothing for other bytes.
  static std::optional<CodeArtifact> parse(std::string_view text);
};

}  // namespace fusescope
