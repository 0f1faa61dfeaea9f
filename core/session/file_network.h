#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "planning/read_back_plan.h"

namespace fusescope {

// The network as its author wrote it, before anything was normalised, and what became of each of its nodes in a plan.
// A Constant node is a constant here as elsewhere, and no node.

/// A network in the nodes of its file. Immutable.
struct FileNetwork {
  std::shared_ptr<const Model> model;  ///< its OriginIds are those of the model that it was read for
  std::vector<NodeId> nodeOf;          ///< by OriginId; invalid: a Constant node
};

/// Reads the file that `plan` was made of again, with each node as it is there. Types that the file does not declare
/// are those of the plan's network, where that has the value. Errors, located: the file is not there, has changed or is
/// another network, as sourceNetwork() says it.
Result<FileNetwork> openFileNetwork(const Plan& plan, const StopToken& stop = {});

/// What became of one node of the file.
struct FileNodeFate {
  OriginId origin;
  /// Kernel, View, Fallback, …: as the cover says of the nodes that stand for it. Folded: constants stand in its place.
  /// Removed: no output needs it, or what reads its result reads what it read.
  Fate fate = Fate::NotDisclosed;
  std::vector<std::string> standsAs{};  ///< nodes of the plan's network that stand for it, unless it is one of its name
  std::vector<FusedNodeId> kernels{};   ///< of the cover, that hold these
  std::string why{};  ///< of one without a node: the decision that took it out, as a sentence; else empty
};

/// A cover in the nodes of the file.
struct InFileNodes {
  /// The network as it lies in the file: each node by itself, in the cover's target and options.
  std::shared_ptr<const Plan> alone;
  /// The cover's fused nodes, of the file's nodes. Their identities are the cover's.
  std::shared_ptr<const ReadBackPlan> cover;
  std::vector<FileNodeFate> nodes;  ///< by OriginId
};

/// Pure. `cover`: a plan of the file's network, ours or read back.
Result<InFileNodes> inFileNodes(const FileNetwork& file, const Cover& cover);

/// "folded", "kernel", "not disclosed"; of a Constant node "constant".
std::string fateText(const FileNetwork& file, const FileNodeFate& node);
/// `plan --original --json`: {format: "fusescope.file_nodes", version, model, nodes: [{name, op, domain, fate,
/// stands_as, kernels: [{name, identity, nodes}], why}]}, in the order of the file.
Json fileNodesJson(const FileNetwork& file, const Cover& cover, const InFileNodes& in);

}  // namespace fusescope
