#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// A block of a network: a module of its author's, a run of equal blocks, or one that its structure alone tells.
struct Module {
  std::string path;          ///< "encoder.layer.3.attention", a run's "encoder.layer.0…11"; unique in a tree
  std::string name;          ///< for people, within the block around it: "attention", "layer.3", "layer.0…11"
  std::string title;         ///< for people, by itself: "layer.3 · attention"
  std::int32_t parent = -1;  ///< the block around it, which comes before it; -1: it is outermost
  std::vector<std::int32_t> children;  ///< in the order of their first nodes
  std::vector<NodeId> nodes;           ///< all that it holds, those of its children too; graph order
  /// Of a run: its children are blocks of one structure, and the k-th nodes of any two of them are counterparts.
  bool isRun = false;
};

/// What windows and reports call a module in a selection: this and its path. The same before a path is the pattern of
/// directives for what an exporter names so.
inline constexpr const char* kModulePrefix = "module:";
/// Between such a handle and the name of a segment: what of the module is in that.
inline constexpr const char* kInSegment = " @ ";

/// The blocks of a network, from the outside to the inside. Immutable once made.
struct ModuleTree {
  /// The blocks of a body of a node.
  struct Body {
    NodeId holder;
    std::string attribute;  ///< "then_branch", "else_branch", "body"
    std::shared_ptr<const ModuleTree> tree;
  };
  std::vector<Module> modules;
  std::vector<std::int32_t> moduleOf;  ///< by NodeId: the innermost block that holds it; -1: none does
  bool byStructure = false;            ///< the network names no modules: blocks are what repeats
  std::vector<Body> bodies;            ///< as Model::bodies

  /// The block of that path; -1: there is none.
  std::int32_t find(std::string_view path) const;
  /// Null: the model has no such body.
  std::shared_ptr<const ModuleTree> body(NodeId holder, std::string_view attribute) const;
};

/// By the modules that exporters name where they name any for at least a quarter of the nodes and half of them are in
/// blocks, else by what repeats in the order of the graph. A block has at least two nodes, not all of the block around
/// it, and no way through the network leaves it and comes back. Blocks of one structure, at least four nodes each, that
/// follow each other in one block are gathered in a run. A node that no module is named for is in the innermost block
/// that holds all its neighbours, as far as they are in one; one that several blocks read and that depends on none of
/// them (a mask) is in the block around these. Pure; any thread. Time about linear in the nodes.
ModuleTree moduleTreeOf(const Model& model);

}  // namespace fusescope
