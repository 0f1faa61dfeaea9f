#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ir/model.h"

namespace fusescope {

/// A block of a network: a module that its author named, a run of equal blocks, or a part that repeats in its
/// structure.
struct Module {
  std::string path;          ///< "encoder.layer.3.attention", for a run "encoder.layer.0…11"; unique in a tree
  std::string name;          ///< for people, inside the enclosing block: "attention", "layer.3", "layer.0…11"
  std::string title;         ///< for people, without context: "layer.3 · attention"
  std::int32_t parent = -1;  ///< the enclosing block, which has a smaller index; -1: none
  std::vector<std::int32_t> children;  ///< in the order of their first nodes
  std::vector<NodeId> nodes;           ///< all nodes in graph order, including those of its children
  /// Whether the block is a run: its children have the same structure, and the k-th nodes of any two of them
  /// correspond.
  bool isRun = false;
};

/// The prefix of a module's handle in selections of windows and reports; the path follows. Before a path that an
/// exporter gave, it also makes the pattern for directives.
inline constexpr const char* kModulePrefix = "module:";
/// Separates such a handle from the name of a segment, if only the part in this segment is meant.
inline constexpr const char* kInSegment = " @ ";

/// The blocks of a network, outer blocks before inner ones. Immutable.
struct ModuleTree {
  /// The blocks of a body.
  struct Body {
    NodeId holder;
    std::string attribute;  ///< "then_branch", "else_branch", "body"
    std::shared_ptr<const ModuleTree> tree;
  };
  std::vector<Module> modules;
  std::vector<std::int32_t> moduleOf;  ///< by NodeId: the innermost block that contains it; -1: none
  bool byStructure = false;            ///< the network names no modules, so that the blocks are parts that repeat
  std::vector<Body> bodies;            ///< one per element of Model::bodies

  /// Returns the index of the block with this path, or -1.
  std::int32_t find(std::string_view path) const;
  /// Returns null if the model has no such body.
  std::shared_ptr<const ModuleTree> body(NodeId holder, std::string_view attribute) const;
};

/// Finds the blocks of a network. It uses the modules that exporters name, if they name one for at least a quarter of
/// the nodes and at least half of all nodes are then in blocks; otherwise it uses what repeats in the order of the
/// graph. A block has at least two nodes, but not all of the enclosing block, and no path through the network leaves it
/// and returns. Consecutive blocks of one structure with at least four nodes each form a run. A node without a module
/// is assigned to the innermost block that contains all its neighbours that have one; a node that several blocks read
/// and that depends on none of them (a mask) is assigned to the block around these. A pure function, for any thread;
/// its time is about linear in the number of nodes.
ModuleTree moduleTreeOf(const Model& model);

}  // namespace fusescope
