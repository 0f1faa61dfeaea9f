#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// How a compiler's verdict on a node was obtained.
enum class SupportSource {
  Parser,  ///< the compiler was asked before anything was compiled
  Build    ///< the compiler failed on the node while it compiled
};
std::string_view name(SupportSource by);  ///< "parser", "build"

/// What a compiler states about a node.
struct NodeSupport {
  std::string node;  ///< its name
  /// Whether the compiler accepts the node; null if it was asked and does not state this, or if it was not asked
  /// (`code` says that).
  std::optional<bool> isAccepted;
  /// The reason code from the decision catalogue; empty if the node is accepted or if the compiler does not say.
  std::string code;
  std::string message;  ///< the compiler's own words; may be empty
  SupportSource foundBy = SupportSource::Parser;
  bool operator==(const NodeSupport&) const = default;
};

/// What the compiler that a plan is made for states about the nodes of the network. Nodes that it refuses fall back.
/// About a node with an entry it was asked, so that the table of the target, which only predicts its answer, is not
/// used for this node.
struct CompilerSupport {
  std::vector<NodeSupport> nodes;  ///< in graph order; nodes about which it was not asked may be missing
  const NodeSupport* find(std::string_view node) const;  ///< null if nothing is stated about the node
  bool operator==(const CompilerSupport&) const = default;
};

Json toJson(const NodeSupport& support);
Json toJson(const CompilerSupport& support);
/// `place` is the place of the list in the document, for errors.
Result<CompilerSupport> compilerSupportFromJson(const Json& json, const std::string& place);

}  // namespace fusescope
