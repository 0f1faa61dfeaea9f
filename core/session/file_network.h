#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

// The network as its author wrote it, before any normalisation, and the fate of each of its nodes in a plan. A Constant
// node is treated as a constant and not as a node.

/// A network with the nodes of its file. It is immutable.
struct FileNetwork {
  std::shared_ptr<const Model> model;  ///< its OriginIds are those of the model that it was read again for
  std::vector<NodeId> nodeOf;          ///< for each OriginId; invalid: a Constant node
};

/// Reads the file of `plan` again, with its original nodes. Types that the file does not declare are taken from the
/// plan's network if that has the value. Errors, with locations: the file does not exist, has changed or is another
/// network; see sourceNetwork().
Result<FileNetwork> openFileNetwork(const Plan& plan, const StopToken& stop = {});

/// The fate of one node of the file.
struct FileNodeFate {
  OriginId origin;
  /// Kernel, View, Fallback, …: the cover's fate for the nodes that come from it. Folded: it was replaced by constants.
  /// Removed: no output depends on it, or the readers of its result read its input instead.
  Fate fate = Fate::NotDisclosed;
  std::vector<std::string> representedBy{};  ///< nodes of the plan's network that come from it, unless there is only
                                             ///< one with the same name
  std::vector<FusedNodeId> kernels{};        ///< kernels of the cover that contain these nodes
  std::string why{};  ///< the decision that removed it, as a sentence; empty if it was not removed
};

/// A cover in terms of the file's nodes.
struct InFileNodes {
  /// The network of the file, with each node separate, with the cover's target and options.
  std::shared_ptr<const Plan> alone;
  /// The cover's fused nodes in terms of the file's nodes, with the same identities.
  std::shared_ptr<const ReadBackPlan> cover;
  std::vector<FileNodeFate> nodes;  ///< for each OriginId
};

/// Expresses `cover`, a plan or read-back plan of the file's network, in terms of the file's nodes. It is a pure
/// function.
Result<InFileNodes> inFileNodes(const FileNetwork& file, const Cover& cover);

/// Returns the fate as text: "folded", "kernel", "not disclosed"; for a Constant node "constant".
std::string fateText(const FileNetwork& file, const FileNodeFate& node);
/// Returns the JSON of `plan --original --json`: {format: "fusescope.file_nodes", version, model, nodes: [{name, op,
/// domain, fate, stands_as, kernels: [{name, identity, nodes}], why}]}, in the order of the file.
Json fileNodesJson(const FileNetwork& file, const Cover& cover, const InFileNodes& in);

}  // namespace fusescope
