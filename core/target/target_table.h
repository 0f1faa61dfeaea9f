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
#include "target/restriction_list.h"

namespace fusescope {

/// A requirement of a target on a node other than its types, with one subject and one rule. See
/// resources/targets/FORMAT.md.
struct Restriction {
  enum class Subject { Attribute, Input, Output, Function };
  enum class Rule { OneOf, All, Rank, Constant, Zero, Below, Types, Absent, Static, StaticAxis, Function };
  Subject subject = Subject::Function;
  Rule rule = Rule::Function;
  std::string name;          ///< name of the attribute, the operand or the function
  std::size_t position = 0;  ///< position of the operand
  std::vector<Json> values;  ///< for OneOf: numbers and texts; for All and Below: one number; for Rank: the ranks
  TypeSet types;             ///< for Types
  std::string axis;          ///< for StaticAxis: the attribute that names the axis
  std::int64_t axisDefault = 0;
  RestrictionFunction function = nullptr;
  std::string statement;           ///< for Function: the requirement, as the list of functions states it
  std::string until;               ///< the version that removed it; empty if it is still valid
  std::vector<std::string> on;     ///< it applies if the machine has one of these capabilities; empty: always
  std::optional<TypeSet> ofTypes;  ///< for Input: it applies to operands of these types; nothing: to all
};

/// What a target states about one operator of ONNX's own domain.
struct OperatorRow {
  std::string op;
  bool supported = true;
  bool inOnnx = true;   ///< false if ONNX no longer has an operator of this name
  std::string kernel;   ///< what runs it here; empty for targets that run elsewhere
  TypeSet types;        ///< types of the operands that the row is about
  bool anyType = true;  ///< it has no list of types, so that every type of the target is accepted
  std::optional<std::vector<std::size_t>> typed;  ///< the inputs that `types` is about; nothing: all from typedFrom on
  std::size_t typedFrom = 0;
  bool typedOutputs = false;
  std::map<DataType, std::string> typesSince;
  std::string since;
  std::vector<Restriction> restrictions;
  std::string caveat;
  std::optional<std::size_t> apartFromCast;  ///< an input that exports separate from a Cast to a wider float
  std::string equivalent;
  std::string source;

  bool concernsInput(std::size_t input) const;
};

/// An element type of a target.
struct TargetType {
  DataType type = DataType::Undefined;
  /// Capabilities of which one is needed to calculate in the type or, if capabilities are machines, to have it. Empty:
  /// none is needed.
  std::vector<std::string> needs;
  std::string source;
};

/// What is assumed of an operator without a row.
enum class Unlisted {
  ReferenceOnly,
  NotSupported,
  Unknown,
  Accepted  ///< it is accepted with all types, because the compiler itself is asked what it refuses
};

/// When a segment may contain an If, Loop or Scan.
enum class BodyRule {
  Whole,  ///< the target can run everything in its bodies
  Parts,  ///< the target can run a part of its bodies; the rest falls back inside the body
};

/// The contents of a target's file. It is not changed after it was loaded.
struct TargetTable {
  std::string name, summary, backend, operatorsOf;
  bool planningOnly = false;
  bool stronglyTyped = false;
  bool predictedFusions = false;
  BodyRule bodies = BodyRule::Whole;
  Unlisted unlisted = Unlisted::NotSupported;
  std::map<std::string, std::string, std::less<>> sources;
  std::vector<std::string> capabilities;  ///< the allowed names; empty if it has no capabilities
  /// If capabilities are machines, a plan is for one of them; this is the default. Empty: they are properties of a
  /// machine.
  std::string defaultCapability;
  std::vector<TargetType> types;
  TypeSet typeSet;  ///< the same types as a set
  std::map<DataType, DataType> truncate;
  std::vector<DataType> computeTypes, runs;
  std::vector<DataType> widened;  ///< the types of `runs` that are only stored; kernels calculate in f32 in registers
  std::map<std::string, OperatorRow, std::less<>> operators;
  /// By fusion rule of ours: the compiler's names of the optimisers that fuse as this rule does. Leaving them out is
  /// the way to ask this compiler not to fuse so.
  std::map<std::string, std::vector<std::string>, std::less<>> noFuse;

  const OperatorRow* find(std::string_view op) const;  ///< `op` is in the form of operatorText() in ops/no_kernel.h
};

/// Reads a table. An error names `file`, the operator and the key.
Result<TargetTable> parseTargetTable(std::string_view text, const std::string& file);

/// A file of resources/targets at the time of the build.
struct EmbeddedTable {
  std::string_view file;  ///< "tensorrt-8.json", the name of the table and ".json"
  std::string_view text;
};
/// Returns the tables in the order of core/CMakeLists.txt. The definition is generated.
const std::vector<EmbeddedTable>& embeddedTargetTables();

/// Returns the embedded table of this name, or null. It is read when it is asked for the first time, because reading
/// all tables takes longer than everything else when a program starts. An invalid file ends the program; tests read
/// every file. Thread-safe.
const TargetTable* findTargetTable(std::string_view name);

}  // namespace fusescope
