#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/decision.h"
#include "ir/graph.h"
#include "ops/type_set.h"

namespace fusescope {

struct TargetTable;

/// What a machine can do, by name: "avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "f16c";
/// or which one it is: "sm89".
using Capabilities = std::set<std::string>;
Capabilities hostCapabilities();  ///< asked of the CPU at run time

/// What to plan for: which types it lacks, which it computes in, and what it can run. Made from a table of
/// resources/targets.
struct Target {
  std::string name;  ///< "cpu", "tensorrt-8", …
  Capabilities capabilities;
  bool planningOnly = false;      ///< engines for it cannot be built here
  bool stronglyTyped = false;     ///< the network's types decide: a pin is honoured by editing the network
  bool predictedFusions = false;  ///< its compiler fuses by rules of its own; ours are predictions
  TypeSet types;                  ///< the element types that it has
  bool lacksInt64 = false;
  bool lacksFloat64 = false;
  std::set<DataType> computeTypes;  ///< float types that may be asked of a node (emulated where the backend lacks them)
  std::set<DataType> hardwareTypes;  ///< those that the hardware has and the backend really runs
  std::size_t defaultMinSegment = 1;
  std::string acceleratedBackend;            ///< "native", "tensorrt"
  std::shared_ptr<const TargetTable> table;  ///< operators and restrictions

  /// "cpu" (capabilities of this machine), "cpu:avx512_vnni+avx512_bf16" (named ones), "tensorrt-8", "tensorrt-10",
  /// "tensorrt-rtx" (the machine that its table names), "tensorrt-rtx:sm120".
  static Result<Target> fromName(std::string_view name);
  /// A target of a table, with these capabilities (ignored by tables that name none). Where they are machines, one of
  /// them, or none for the table's own choice.
  static Target fromTable(std::shared_ptr<const TargetTable> table, Capabilities capabilities = {});
  std::string canonical() const;  ///< the name with its capabilities: part of a plan's key
};

/// The names that Target::fromName knows, without capabilities.
std::vector<std::string> targetNames();

/// The type at which a segment would hold a value of a body, by the body's place in its node.
using BodyTypes = std::function<DataType(const Subgraph& body, ValueId value)>;

/// What a target says of a node, and the decision that explains it.
struct TargetVerdict {
  /// A type that stands in the way, as text, and the value that has it.
  struct RefusedType {
    std::string value, type;
  };
  /// What a node is refused for that lies in one of its bodies.
  struct Inside {
    std::string inner, path;   ///< what lies there, and the way to it: attributes and nodes
    std::string code, reason;  ///< of the refusal there
  };
  Decision why;
  bool supported = false;
  bool qualified = false;                    ///< supported, but what `why` says besides must be known
  std::string condition{};                   ///< that it is supported under
  std::string equivalent{};                  ///< of a refusal: supported operators that say the same
  std::optional<RefusedType> refusedType{};  ///< of a refusal for a type, of the node or of what is inside
  std::optional<Inside> inside{};
};

/// Can `target` run `node` in an accelerated segment at these types (after truncation)? Codes validate.*.
/// Types of inputs and outputs by position; an absent optional is null. Which operands are constants is asked of
/// `graph`. Values inside bodies have the types that their graphs declare.
TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs);
/// The same, with the types that values inside bodies would have.
TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs,
                           const BodyTypes& bodyTypes);

}  // namespace fusescope
