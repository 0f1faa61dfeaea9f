#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope::torch {

// The contents of an exported program (torch.export.ExportedProgram) according to its JSON, schemas 7 and 8. Names are
// those of PyTorch's schema unless there is a better one. A value is a tensor, or a number of the graph (a symbolic
// integer, float or truth value), and has a name that is unique in its graph.

/// An extent, a stride or a number: known, or an expression of symbols.
struct SymbolicNumber {
  std::optional<std::int64_t> known;
  std::string expression;            ///< as the file contains it: "s0 + 1", "Mul(Integer(8), Symbol('s39', …))"
  std::optional<std::int64_t> hint;  ///< its value for the example inputs
};

struct TensorMeta {
  DataType type = DataType::Undefined;
  std::int64_t typeNumber = 0;  ///< the number in the file, for types that we do not have
  std::vector<SymbolicNumber> sizes, strides;
  SymbolicNumber offset;
  bool isStrided = true;  ///< false for a sparse or opaque tensor
};

struct ProgramGraph;

/// An argument of a node: values, a number or text, or a graph.
struct ProgramArgument {
  std::string name;
  std::vector<std::string> reads;    ///< values; an empty name for a None in a list
  std::optional<Attribute> literal;  ///< an argument that is not a value; for a list that mixes both, its text
  std::shared_ptr<const ProgramGraph> body;
};

/// A module around a node. Frames are ordered from the outside inwards.
struct ModuleFrame {
  std::string path;  ///< "encoder.layer.3"; empty for the whole network
  std::string className;
};

struct ProgramNode {
  std::string name;
  std::string target;  ///< "torch.ops.aten.linear.default"
  std::vector<ProgramArgument> inputs;
  std::vector<std::string> outputs;  ///< values; an empty name if there is none
  std::string stackTrace;  ///< stack trace of the author's code, as Python prints it; empty if it was not stored
  std::vector<ModuleFrame> modules;
};

struct ProgramGraph {
  std::vector<ProgramNode> nodes;
  std::vector<std::string> inputs, outputs;  ///< values; an empty name for anything else
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, SymbolicNumber> integers;
  std::map<std::string, DataType> numbers;  ///< F64 or Bool: floats and truth values of the graph
};

/// One input of the graph and its meaning.
struct ProgramInput {
  enum class Kind { User, Parameter, Buffer, TensorConstant, Constant, Other };
  Kind kind = Kind::Other;
  std::string value;       ///< its name in the graph
  std::string target;      ///< for a weight, its path: "encoder.layer.0.weight"
  bool persistent = true;  ///< for a buffer: it is stored with the weights, not with the constants
  Json constant;           ///< for an argument that was not a tensor: its value
};

struct ProgramOutput {
  std::string kind;    ///< "user_output", "buffer_mutation", …
  std::string value;   ///< empty for a constant
  std::string target;  ///< for a mutation: what is changed
};

/// The range of a symbol or of an expression of symbols. A bound that is absent does not exist.
struct SymbolRange {
  std::optional<std::int64_t> least, most;
};

struct ExportedProgram {
  ProgramGraph graph;
  std::vector<ProgramInput> inputs;  ///< in the order of the graph's inputs
  std::vector<ProgramOutput> outputs;
  std::map<std::string, SymbolRange> ranges;
  std::vector<std::string> guards;         ///< conditions under which it was exported, in Python
  std::vector<std::string> argumentNames;  ///< arguments of the author's forward(), in order
  Json inputTree;                          ///< how these arguments contain the inputs; null if it is unknown
  std::vector<std::string> modules;        ///< paths, in the author's order
  std::map<std::string, std::int64_t> opsets;
  std::vector<std::string> verifiers;
  std::string inputSpecs;  ///< `custom` metadata of the graph under kInputSpecsKey; empty if there are none
  std::int64_t schemaMajor = 0, schemaMinor = 0;
  std::string torchVersion;
};

}  // namespace fusescope::torch
