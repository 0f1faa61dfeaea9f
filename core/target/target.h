#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ir/decision.h"
#include "ir/tensor_type.h"
#include "ops/type_set.h"

namespace fusescope {

class Graph;
struct Node;
struct Subgraph;
struct TargetTable;

/// The capabilities of a machine, by name: "avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16",
/// "f16c"; or which machine it is: "sm89".
using Capabilities = std::set<std::string>;
Capabilities hostCapabilities();  ///< queried from the CPU at run time

/// The machine or compiler that a plan is made for: the types that it has, the types in which it calculates, and the
/// operators that it can run. It is made from a table in resources/targets.
struct Target {
  std::string name;  ///< "cpu", "tensorrt-8", …
  Capabilities capabilities;
  bool planningOnly = false;      ///< engines for it cannot be built by this program
  bool stronglyTyped = false;     ///< the network's types decide, so that a pin is an edit of the network
  bool predictedFusions = false;  ///< its compiler fuses by its own rules, so that our fusions are predictions
  TypeSet types;                  ///< the element types that it has
  bool lacksInt64 = false;
  bool lacksFloat64 = false;
  std::set<DataType> computeTypes;   ///< float types that may be asked for; emulated where the backend lacks them
  std::set<DataType> hardwareTypes;  ///< the part of them that the hardware supports and the backend really uses
  std::size_t defaultMinSegment = 1;
  std::string acceleratedBackend;            ///< "native", "tensorrt"
  std::shared_ptr<const TargetTable> table;  ///< operators and restrictions

  /// Makes a target from its name: "cpu" (with the capabilities of this machine), "cpu:avx512_vnni+avx512_bf16" (with
  /// named ones), "tensorrt-8", "tensorrt-10", "tensorrt-rtx" (the machine that its table names), "tensorrt-rtx:sm120".
  static Result<Target> fromName(std::string_view name);
  /// Makes the target of a table with these capabilities, which are ignored if the table names none. If capabilities
  /// are machines, one of them must be given, or none for the table's default.
  static Target fromTable(std::shared_ptr<const TargetTable> table, Capabilities capabilities = {});
  std::string canonical() const;  ///< the name with its capabilities; it is part of a plan's key
};

/// Returns whether kernels of `target`, which runs here, calculate in `type`: in float32; in integers, by exact sums;
/// in other floats, if the hardware has them.
bool calculatesIn(const Target& target, DataType type);
/// Returns a clause that says how kernels of `target`, which runs here, calculate in a float type or int8, or that the
/// reference backend emulates it.
std::string arithmeticText(const Target& target, DataType type);

/// Returns the names that Target::fromName() accepts, without capabilities.
std::vector<std::string> targetNames();

/// Returns the type that a value of a body would have inside a segment.
using BodyTypes = std::function<DataType(const Subgraph& body, ValueId value)>;

/// The answer of a target about a node, and the decision that explains it.
struct TargetVerdict {
  /// The type, as text, that the target refuses, and the value that has it.
  struct RefusedType {
    std::string value, type;
  };
  /// The refused thing in a body of the node.
  struct Inside {
    std::string inner, path;   ///< its name, and the path to it: attributes and nodes
    std::string code, reason;  ///< code and reason of its refusal
  };
  Decision why;
  bool supported = false;
  bool qualified = false;    ///< it is supported with a qualification, which `why` states
  std::string condition{};   ///< the condition under which it is supported
  std::string equivalent{};  ///< for a refusal: supported operators that can replace it
  /// For a refusal because of a type, of the node or of something in its bodies.
  std::optional<RefusedType> refusedType{};
  std::optional<Inside> inside{};
};

/// Returns whether `target` can run `node` in an accelerated segment at these types (after truncation). The codes of
/// the decision are validate.*. Types are by position, and null for an absent optional input. Whether operands are
/// constants is read from `graph`. Values in bodies have the types that their graphs declare.
TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs);
/// Does the same with other types of the values in bodies.
TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs,
                           const BodyTypes& bodyTypes);

}  // namespace fusescope
