#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope::torch {

// An exported program (torch.export.ExportedProgram) as its JSON tells it, schema 7 and 8. Names are those of PyTorch's
// own schema where there is no better one. Values: a tensor, or a number of the graph (a symbolic integer, float or
// truth value); all of them have names that are unique in their graph.

/// An extent, a stride or a number: known, or an expression of symbols.
struct SymbolicNumber {
  std::optional<std::int64_t> known;
  std::string expression;            ///< as the file writes it: "s0 + 1", "Mul(Integer(8), Symbol('s39', …))"
  std::optional<std::int64_t> hint;  ///< its value for the example inputs
};

struct TensorMeta {
  DataType type = DataType::Undefined;
  std::int64_t typeNumber = 0;  ///< of the file, for a type that is not known here
  std::vector<SymbolicNumber> sizes, strides;
  SymbolicNumber offset;
  bool isStrided = true;  ///< false: sparse, or opaque
};

struct ProgramGraph;

/// What a node is given under one name: values, a number or text, or a graph.
struct ProgramArgument {
  std::string name;
  std::vector<std::string> reads;    ///< values; an empty name where a list has None
  std::optional<Attribute> literal;  ///< what is no value; of a list that mixes both its text
  std::shared_ptr<const ProgramGraph> body;
};

/// A module that a node was made in, from the outside to the inside.
struct ModuleFrame {
  std::string path;  ///< "encoder.layer.3"; empty: the whole network
  std::string className;
};

struct ProgramNode {
  std::string name;
  std::string target;  ///< "torch.ops.aten.linear.default"
  std::vector<ProgramArgument> inputs;
  std::vector<std::string> outputs;  ///< values; an empty name where there is none
  std::string stackTrace;            ///< of the author's code, as Python prints it; empty: it is not kept
  std::vector<ModuleFrame> modules;
};

struct ProgramGraph {
  std::vector<ProgramNode> nodes;
  std::vector<std::string> inputs, outputs;  ///< values; an empty name for one that is none
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, SymbolicNumber> integers;
  std::map<std::string, DataType> numbers;  ///< F64 or Bool: floats and truth values of the graph
};

/// One input of the graph, and what it stands for.
struct ProgramInput {
  enum class Kind { User, Parameter, Buffer, TensorConstant, Constant, Other };
  Kind kind = Kind::Other;
  std::string value;       ///< its name in the graph
  std::string target;      ///< of a weight its path: "encoder.layer.0.weight"
  bool persistent = true;  ///< of a buffer: it is among the weights, not the constants
  Json constant;           ///< of an argument that was no tensor: its value
};

struct ProgramOutput {
  std::string kind;    ///< "user_output", "buffer_mutation", …
  std::string value;   ///< empty: a constant
  std::string target;  ///< of a mutation: what is changed
};

/// What a symbol, or an expression of some, may be. No bound: any number.
struct ExtentBounds {
  std::optional<std::int64_t> least, most;
};

struct ExportedProgram {
  ProgramGraph graph;
  std::vector<ProgramInput> inputs;  ///< in the order of the graph's
  std::vector<ProgramOutput> outputs;
  std::map<std::string, ExtentBounds> ranges;
  std::vector<std::string> guards;         ///< conditions under which it was exported, in Python
  std::vector<std::string> argumentNames;  ///< of the author's forward(), in order
  Json inputTree;                          ///< how these arguments hold the inputs; null: not told
  std::vector<std::string> modules;        ///< paths, in the order of the author's
  std::map<std::string, std::int64_t> opsets;
  std::vector<std::string> verifiers;
  std::string inputSpecs;  ///< what the `custom` metadata of the graph hold under kInputSpecsKey; empty: nothing
  std::int64_t schemaMajor = 0, schemaMinor = 0;
  std::string torchVersion;
};

/// The JSON of an exported program as torch reads it: Python writes NaN and Infinity, which are texts here. Errors: it
/// is no JSON, or too deep.
Result<Json> programJsonOf(std::string_view text);

/// Reads the JSON of an exported program. Errors name the field: "graph_module.graph.nodes[3].outputs: must be a list".
/// An argument of a kind that is not known is kept as its JSON text. Schemas 7 and 8 are read.
Result<ExportedProgram> parseExportedProgram(std::string_view json, std::int64_t mostNodes);

/// A tensor's description, which weights have as well.
Result<TensorMeta> tensorMetaOf(const Json& json);

}  // namespace fusescope::torch
