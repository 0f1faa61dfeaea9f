#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// A step into a body: the position of the holder in its graph's list of nodes, and the attribute that contains the
/// body.
struct BodyStep {
  std::size_t node = 0;
  std::string attribute;
  auto operator<=>(const BodyStep&) const = default;
};
/// The path from the main graph to one of the file's graphs; empty for the main graph.
using GraphPath = std::vector<BodyStep>;

/// A node of the file: its graph, and its position in the graph's list. Edits do not change the meaning of a position.
/// In the main graph it is the OriginId of the node.
struct NodePlace {
  GraphPath graph;
  std::size_t node = 0;
  auto operator<=>(const NodePlace&) const = default;
};

/// The changes of a network, in terms of its file. Everything that no edit names stays as it is: nodes, names,
/// metadata, weights.
struct NetworkEdits {
  /// Operand `slot` of a node becomes another value ("" for none). Slots after the last one are added.
  struct Operand {
    NodePlace node;
    std::size_t slot = 0;
    std::string value;
  };
  /// Result `slot` of a node gets another name. Its readers keep reading the old name unless an Operand changes them.
  struct Outcome {
    NodePlace node;
    std::size_t slot = 0;
    std::string value;
  };
  /// A node to be added. It is placed after the last node (including nodes in bodies) that makes one of its operands;
  /// nodes that would be at the same place are in this order. A new node may read results of earlier new nodes.
  struct NewNode {
    GraphPath graph;
    FileNode node;
  };
  /// The attribute is added, or replaces the one of the same name.
  struct NewAttribute {
    NodePlace node;
    FileAttribute attribute;
  };
  /// The attribute is removed from the node.
  struct RemovedAttribute {
    NodePlace node;
    std::string name;
  };
  /// The initializer is added, or replaces the one of the same name, whose declared types are then changed too.
  struct NewInitializer {
    GraphPath graph;
    FileTensor tensor;
  };
  /// Sets the element type that a graph declares for a value, as an input, an output or in value_info. Nothing is done
  /// if the graph does not declare the value.
  struct NewType {
    GraphPath graph;
    std::string value;
    DataType type = DataType::Undefined;
  };
  /// A node of the main graph gets another name.
  struct NewName {
    std::size_t node = 0;
    std::string name;
  };
  /// The inputs and outputs of the main graph, if the network becomes a part of the original one. They replace the
  /// declared ones. What the part does not need is removed: initializers, declared types, functions, annotations and
  /// training steps. Initializers that are also listed as inputs, as in the oldest files, stay listed.
  struct Borders {
    std::vector<FileValue> inputs, outputs;
  };
  std::vector<Operand> operands;
  std::vector<Outcome> outcomes;
  std::vector<NewNode> nodes;
  /// Nodes to be removed; their results are made by new nodes or are not read any more.
  std::vector<NodePlace> removedNodes;
  std::vector<NewAttribute> attributes;
  std::vector<RemovedAttribute> removedAttributes;
  std::vector<NewInitializer> initializers;
  std::vector<NewType> types;
  std::vector<NewName> names;
  std::optional<Borders> borders;
  std::map<std::string, std::string> metadata;       ///< each entry is added, or replaces the one with the same key
  std::map<std::string, std::string> graphMetadata;  ///< the same for the metadata of the main graph
  std::vector<std::string> removedMetadata;          ///< keys of metadata that are removed if they exist
  std::int64_t opset = 0;                            ///< the opset of ai.onnx; 0: unchanged; it is never lowered
};

}  // namespace fusescope::onnxlib
