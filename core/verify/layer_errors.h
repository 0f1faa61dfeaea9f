#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "verify/compare_tensors.h"
#include "verify/lost_weights.h"
#include "verify/tensor_error.h"

namespace fusescope {

/// *Local*: what a fused node adds by itself, its inputs exact and rounded only to what it reads. *Carried*: what
/// stands there when everything is lowered. A culprit has a local error, its victims a carried one alone.
struct LocalAndCarried {
  std::optional<TensorError> local, carried;  ///< nothing: there is nothing to compare with
  bool ofCodes() const { return carried && carried->codes; }
  bool operator==(const LocalAndCarried&) const = default;
};

/// A tensor that the lowered plan leaves in memory.
struct TensorErrors {
  std::string name;
  std::string fusedNode;  ///< that makes it
  DataType stored = DataType::Undefined;
  bool isOutput = false;  ///< of the network
  LocalAndCarried errors;
  bool operator==(const TensorErrors&) const = default;
};

/// A fused node, all its outputs together.
struct NodeErrors {
  std::string name, kind, ranOn;  ///< the last: the backend
  LocalAndCarried errors;
  std::vector<LostWeight> lostWeights{};  ///< of one that is wrong by itself
};

/// Where it first goes wrong, in the order of the plan.
struct FirstWrong {
  std::string node, tensor;  ///< a fused node, and what it leaves
  std::string why;           ///< for people
  bool isLocal = true;       ///< the node does it by itself; else errors of those before it add up
};

struct LayerErrorReport {
  std::vector<TensorErrors> tensors;  ///< in the order of the plan
  std::vector<NodeErrors> nodes;      ///< one for each fused node of the plan, or of `made`
  /// What another compiler made of the network: whose fused nodes `nodes` are of. Null: they are of the plan.
  std::shared_ptr<const Cover> made{};
  std::optional<FirstWrong> firstWrong;
  std::set<std::string> leading{};  ///< leadingToOutputs() of `tensors`
  struct NotMeasured {
    std::string name, why;
    bool operator==(const NotMeasured&) const = default;
  };
  std::vector<NotMeasured> notMeasured;  ///< tensors
  struct NotInDouble {
    std::string op;
    std::int64_t nodes = 0;
  };
  std::vector<NotInDouble> notInDouble;  ///< against double precision: what ran at the model's own types
};

struct LayerErrorOptions {
  std::string backend = "native";
  int threads = 0;
  std::vector<std::string> sampleNames{};             ///< what errors of running call each sample; none: its number
  Tolerance tolerance = Tolerance::ofLoweredTypes();  ///< beyond which a tensor is wrong; its rms bound counts
  StopToken stop{};
  Progress progress{};
};

/// Runs `exact`, a plan of exactNetworkOf(), and `lowered` side by side, node by node. What stands as codes is compared
/// by the numbers that they stand for; where a node reads codes, its exact inputs are rounded to these. `exact` must
/// leave in memory what `lowered` does, as exactPlanFor() says; what it does not is not measured. Null: the network in
/// double precision by the reference kernels, which takes long. Each kernel is prepared once for many
/// samples, and activations go when their last reader is done, so that neither weights nor activations need be in
/// memory all at once. Errors: those of building and running.
Result<LayerErrorReport> measureLayerErrors(std::shared_ptr<const Plan> exact, std::shared_ptr<const Plan> lowered,
                                            std::span<const std::map<std::string, Tensor>> samples,
                                            const LayerErrorOptions& options);

/// The plan of `options` for exactNetworkOf(`lowered`), in which every value that `lowered` has in memory is in memory
/// too: kernels end where those of `lowered` end.
Result<std::shared_ptr<const Plan>> exactPlanFor(const Plan& lowered, PlanOptions options, const StopToken& stop);

/// Those of `tensors`, by name, from which an output of `graph` is reached over tensors that are wrong by `tolerance`,
/// or were not measured. Pure.
std::set<std::string> leadingToOutputs(const std::vector<TensorErrors>& tensors, const Graph& graph,
                                       const Tolerance& tolerance);

/// Of `tensors`, of which `leading` are leadingToOutputs(): the first one whose local error is wrong by `tolerance`,
/// else the first whose carried one is. Those that lead to an output come before those that do not, as a mask whose
/// lowest number becomes infinite. Pure.
std::optional<FirstWrong> firstWrongOf(const std::vector<TensorErrors>& tensors, const std::set<std::string>& leading,
                                       const Tolerance& tolerance);

}  // namespace fusescope
