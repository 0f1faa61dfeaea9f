#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "ir/decision.h"
#include "ir/extent_conditions.h"
#include "ir/graph.h"

namespace fusescope {

/// A node of the file, as it was.
struct Origin {
  std::string name;  ///< unique; see Node::name
  std::string op;
  std::string domain;
  std::string module{};     ///< "encoder.layer.3": the module whose code made it, if the exporter says; else empty
  std::string plainForm{};  ///< the operators that it was read as ("MatMul and Add"); empty: it was read as it is
  std::string equation{};   ///< of an Einsum that normalisation wrote as products
  /// "linear_4": the node of the exported program that torch made it of, if the file is of one; else empty.
  std::string programNode{};
  /// Where its author wrote it: the frames of the call as Python prints them, the innermost one last; else empty.
  std::string source{};
};

/// What an input may be at run time. `min`, `opt` and `max` are equal for a fixed input.
struct InputSpec {
  std::string name;
  DataType dtype = DataType::Undefined;
  Dims min, opt, max;
  std::string source;  ///< "file", "metadata", "user", "assumed": where it came from, shown to the user
  bool fixed() const { return min == max; }
  bool operator==(const InputSpec&) const = default;
};

struct Model;

/// A body of a node of a model's graph (If, Loop, Scan) as a model of its own, normalised and typed as the graph around
/// it is. Its origins are its own nodes as the file has them; its InputSpecs (source "holder") are the extents that its
/// holder hands it, -1 where they cannot be told: they are what it is planned for, and refuse nothing.
struct ModelBody {
  NodeId holder;
  std::string attribute;               ///< "then_branch", "else_branch", "body"
  std::shared_ptr<const Model> model;  ///< its graph is that of the node's Subgraph
};

/// What a file held: the graph, where each node came from, and what is known of the inputs. Immutable; shared.
struct Model {
  std::string path;  ///< as the user gave it
  /// The ONNX file that it was read from, where that is another one: what torch made of the exported program at `path`.
  /// It is one of `files`, too.
  std::string network{};
  MappedFiles files;   ///< that it was read from, the one at `path` first: weights are views of them
  std::string format;  ///< "onnx"
  std::string producer;
  std::map<std::string, std::int64_t> opset;  ///< of the file, domain ("ai.onnx") to version
  std::vector<Origin> origins;                ///< index = OriginId, file order
  std::shared_ptr<const Graph> graph;
  std::vector<InputSpec> inputSpecs;        ///< one per graph input, in order
  std::vector<Decision> decisions;          ///< of import, normalise and infer
  std::vector<ExtentCondition> conditions;  ///< of open extents: types in the graph hold for the runs where these do
  std::vector<TensorType> declaredInputs;   ///< where there are conditions: of the inputs, before symbols became one
  std::int64_t fileNodes = 0;               ///< nodes of the file's main graph
  std::int64_t parameters = 0;              ///< elements of all weights, with or without data
  std::int64_t weightBytes = 0;
  bool weightless = false;        ///< some weight has no data: it can be looked at and planned, not run
  bool isBody = false;            ///< it is the body of a node of another model, which hands it its inputs
  bool inputsFitted = false;      ///< assumed extents were tried: the inputSpecs are what the network can run
  std::vector<ModelBody> bodies;  ///< in graph order, then by attribute; none for a body that cannot be typed
  Hash128 contentHash;            ///< of structure and weights' names, types and extents (not of their data)
  std::shared_ptr<const Model> unquantized;  ///< what a plan's options quantised it from; null for a model of a file

  /// The file that its nodes are in: an ONNX file, unless `format` says otherwise.
  const std::string& networkPath() const { return network.empty() ? path : network; }
  /// Where its author wrote a node of `graph`: Origin::source of the first of its origins that has one; else empty.
  const std::string& sourceOf(const Node& node) const;
  /// The body under `attribute` of `holder`, or null.
  const Model* body(NodeId holder, std::string_view attribute) const;
};

/// `model`, or what a plan quantised it from.
inline const std::shared_ptr<const Model>& unquantized(const std::shared_ptr<const Model>& model) {
  return model->unquantized != nullptr ? model->unquantized : model;
}

}  // namespace fusescope
