#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/kernel.h"

namespace fusescope {

/// What is kept of compiled code.
struct CodeArtifact {
  /// Hex digits of the hash of the constants that it holds: it serves only regions where they are equal.
  std::string embedded;
  NodeNames names;   ///< that its errors use
  std::string code;  ///< Code::serialise()

  std::string text() const;
  /// Nothing for bytes that text() did not give.
  static std::optional<CodeArtifact> parse(std::string_view text);
};

}  // namespace fusescope
