#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "base/mapped_file.h"
#include "ir/decision.h"
#include "ir/extent_conditions.h"

namespace fusescope {

class Graph;
struct Node;

/// A node of the file, as it was read.
struct Origin {
  std::string name;  ///< unique; see Node::name
  std::string op;
  std::string domain;
  std::string module{};  ///< the module whose code made the node, such as "encoder.layer.3", if the exporter states it;
                         ///< else empty
  std::string plainForm{};  ///< the operators it was read as ("MatMul and Add"); empty if it was read unchanged
  std::string equation{};   ///< the equation of an Einsum that normalisation replaced by products
  /// The node of the exported program that torch made this node of, such as "linear_4". Empty if the file is not made
  /// of an exported program.
  std::string programNode{};
  /// Where the author wrote the node: the frames of the call as Python prints them, the innermost last. Empty if
  /// unknown.
  std::string source{};
};

/// The type and the possible extents of an input at run time. If the extents are fixed, `min`, `opt` and `max` are
/// equal.
struct InputSpec {
  std::string name;
  DataType dtype = DataType::Undefined;
  Dims min, opt, max;
  std::string source;  ///< the source of this information, shown to the user: "file", "metadata", "user" or "assumed"
  bool fixed() const { return min == max; }
  bool operator==(const InputSpec&) const = default;
};

struct Model;

/// A body of a node of a model's graph (If, Loop, Scan) as a model of its own. It is normalised and typed like the
/// graph around it. Its origins are its own nodes in the file. Its InputSpecs (source "holder") are the extents that
/// the holder passes in, or -1 where these are unknown; planning uses them, and no input is refused because of them.
struct ModelBody {
  NodeId holder;
  std::string attribute;               ///< "then_branch", "else_branch", "body"
  std::shared_ptr<const Model> model;  ///< its graph is that of the Subgraph in the node
};

/// The contents of a file: the graph, the origin of each node, and what is known of the inputs. Immutable and shared.
struct Model {
  std::string path;  ///< the path that the user gave
  /// The ONNX file that the network was read from, if that is not `path`: torch made it of the exported program at
  /// `path`. It is also one of `files`.
  std::string network{};
  MappedFiles files;   ///< the files that it was read from, `path` first; the weights are views of them
  std::string format;  ///< "onnx"
  std::string producer;
  std::map<std::string, std::int64_t> opset;  ///< the versions of the file's operator sets, by domain ("ai.onnx")
  std::vector<Origin> origins;                ///< by OriginId, in the order of the file
  std::shared_ptr<const Graph> graph;
  std::vector<InputSpec> inputSpecs;        ///< one per graph input, in order
  std::vector<Decision> decisions;          ///< the decisions of import, normalise and infer
  std::vector<ExtentCondition> conditions;  ///< the types in the graph are right for the runs in which these are true
  /// The types of the inputs before equal symbols became one; empty if there are no conditions.
  std::vector<TensorType> declaredInputs;
  std::int64_t fileNodes = 0;   ///< the number of nodes in the file's main graph
  std::int64_t parameters = 0;  ///< elements of all weights, with or without data
  std::int64_t weightBytes = 0;
  bool weightless = false;        ///< a weight has no data, so that the model can be viewed and planned, but not run
  bool isBody = false;            ///< this is the body of a node of another model, which passes in its inputs
  bool inputsFitted = false;      ///< assumed extents were tried, and inputSpecs are those that the network can run
  std::vector<ModelBody> bodies;  ///< in graph order, then by attribute; without bodies that cannot be typed
  Hash128 contentHash;  ///< the hash of the structure and of names, types and extents of weights, but not of their data
  /// The model that a plan's options quantised into this one; null for the model of a file.
  std::shared_ptr<const Model> unquantized;

  /// Returns the file that contains the nodes. It is an ONNX file, unless `format` says otherwise.
  const std::string& networkPath() const { return network.empty() ? path : network; }
  /// Returns where the author wrote a node of `graph`: Origin::source of its first origin that has one; else empty.
  const std::string& sourceOf(const Node& node) const;
  /// Returns the body in `attribute` of `holder`, or null.
  const Model* body(NodeId holder, std::string_view attribute) const;
};

/// Returns the model that a plan quantised into `model`, or `model` itself if it was not quantised.
inline const std::shared_ptr<const Model>& unquantized(const std::shared_ptr<const Model>& model) {
  return model->unquantized != nullptr ? model->unquantized : model;
}

}  // namespace fusescope
