#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ops/type_set.h"
#include "target/restriction_functions.h"

namespace fusescope {

struct Target;

/// A requirement of a target on a node, other than its types: one subject and one rule. See
/// resources/targets/FORMAT.md.
struct Restriction {
  enum class Subject { Attribute, Input, Output, Function };
  enum class Rule { OneOf, All, Rank, Constant, Zero, Below, Types, Absent, Static, StaticAxis, Function };
  Subject subject = Subject::Function;
  Rule rule = Rule::Function;
  std::string name;          ///< of the attribute, the operand or the function
  std::size_t position = 0;  ///< of the operand
  std::vector<Json> values;  ///< OneOf: numbers and texts; All, Below: one number; Rank: the ranks
  TypeSet types;             ///< Types
  std::string axis;          ///< StaticAxis: the attribute that names it
  std::int64_t axisDefault = 0;
  RestrictionFunction function = nullptr;
  std::string statement;           ///< Function: what must hold, as the function's list says it
  std::string until;               ///< the version that lifted it; empty: it stands
  std::vector<std::string> on;     ///< capabilities of which one must be there for it to hold; empty: it always does
  std::optional<TypeSet> ofTypes;  ///< Input: the types of the operand that it is about; nothing: all
};

/// What a target says of one operator of ONNX's own domain.
struct OperatorRow {
  std::string op;
  bool supported = true;
  bool inOnnx = true;                             ///< false: ONNX no longer has an operator of this name
  std::string kernel;                             ///< what runs it here; empty for targets that run elsewhere
  TypeSet types;                                  ///< of the operands it speaks of
  bool anyType = true;                            ///< it has no list of types: whatever the target has
  std::optional<std::vector<std::size_t>> typed;  ///< inputs that `types` is about; nothing: all from typedFrom on
  std::size_t typedFrom = 0;
  bool typedOutputs = false;
  std::map<DataType, std::string> typesSince;
  std::string since;
  std::vector<Restriction> restrictions;
  std::string caveat;
  std::optional<std::size_t> apartFromCast;  ///< an input that exports keep apart from a Cast to a wider float
  std::string equivalent;
  std::string source;

  bool speaksOf(std::size_t input) const;
};

/// An element type that a target has.
struct TargetType {
  DataType type = DataType::Undefined;
  /// Capabilities of which one must be there to calculate in it; where they are machines, to have it. Empty: none.
  std::vector<std::string> needs;
  std::string source;
};

/// What an operator without a row is.
enum class Unlisted {
  ReferenceOnly,
  NotSupported,
  Unknown,
  Taken  ///< whatever its types: the compiler is asked itself what it does not take
};

/// When a segment may hold an If, Loop or Scan.
enum class BodyRule {
  Whole,  ///< if the target can run all that is in its bodies
  Parts,  ///< if the target can run some of it: what is left falls back inside the body
};

/// A target as its file says it. Const once loaded.
struct TargetTable {
  std::string name, summary, backend, operatorsOf;
  bool planningOnly = false;
  bool stronglyTyped = false;
  bool predictedFusions = false;
  BodyRule bodies = BodyRule::Whole;
  Unlisted unlisted = Unlisted::NotSupported;
  std::map<std::string, std::string, std::less<>> sources;
  std::vector<std::string> capabilities;  ///< the names that may be given; empty: it has none
  /// Where its capabilities are machines, of which it is planned for one: the one where none is named. Empty: they are
  /// what a machine can do.
  std::string defaultCapability;
  std::vector<TargetType> types;
  TypeSet typeSet;  ///< the same
  std::map<DataType, DataType> truncate;
  std::vector<DataType> computeTypes, runs;
  std::vector<DataType> widened;  ///< of `runs`: stored narrow, calculated in f32 in registers
  std::map<std::string, OperatorRow, std::less<>> operators;

  const OperatorRow* find(std::string_view op) const;  ///< as operatorText() of ops/no_kernel.h writes it
};

/// Whether kernels of `target`, which runs here, calculate in `type`: in float32, in integers by exact sums, in other
/// floats where the hardware has them.
bool calculatesIn(const Target& target, DataType type);
/// How kernels of `target`, which runs here, calculate in a float type or int8; or that the reference imitates it. A
/// clause.
std::string arithmeticText(const Target& target, DataType type);

/// Reads a table. An error names `file`, the operator and the key.
Result<TargetTable> parseTargetTable(std::string_view text, const std::string& file);

/// A file of resources/targets as it was when this was built.
struct EmbeddedTable {
  std::string_view file;  ///< "tensorrt-8.json"
  std::string_view text;
};
/// In the order of core/CMakeLists.txt. The definition is generated.
const std::vector<EmbeddedTable>& embeddedTargetTables();

/// The embedded tables, loaded once. A file that is wrong ends the program: the tests read every one.
const std::vector<TargetTable>& targetTables();

}  // namespace fusescope
