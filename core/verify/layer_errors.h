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

class Graph;

/// The local error is what a fused node adds by itself, when its inputs are exact and only rounded to what it reads.
/// The carried error is what is wrong there when everything is lowered. A culprit has a local error; the nodes after it
/// have only a carried one.
struct LocalAndCarried {
  std::optional<TensorError> local, carried;  ///< nothing if there is nothing to compare with
  bool ofCodes() const { return carried && carried->codes; }
  bool operator==(const LocalAndCarried&) const = default;
};

/// A tensor that the lowered plan writes to memory.
struct TensorErrors {
  std::string name;
  std::string fusedNode;  ///< the fused node that makes it
  DataType stored = DataType::Undefined;
  bool isOutput = false;  ///< it is an output of the network
  LocalAndCarried errors;
  bool operator==(const TensorErrors&) const = default;
};

/// The errors of a fused node, over all its outputs.
struct NodeErrors {
  std::string name, kind, ranOn;  ///< `ranOn` is the backend
  LocalAndCarried errors;
  std::vector<LostWeight> lostWeights{};  ///< for a node with a local error
};

/// The first place with an error, in the order of the plan.
struct FirstWrong {
  std::string node, tensor;  ///< a fused node, and its result
  std::string why;           ///< for people
  bool isLocal = true;       ///< the node causes the error itself; otherwise errors of earlier nodes add up
};

struct LayerErrorReport {
  std::vector<TensorErrors> tensors;  ///< in the order of the plan
  std::vector<NodeErrors> nodes;      ///< one for each fused node of the plan, or of `made`
  /// The kernels that another compiler made of the network, to whose fused nodes `nodes` refers. Null: `nodes` refers
  /// to the fused nodes of the plan.
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
  /// If compared with double precision: the operators that ran in the model's own types.
  std::vector<NotInDouble> notInDouble;
};

struct LayerErrorOptions {
  std::string backend = "native";
  int threads = 0;
  std::vector<std::string> sampleNames{};             ///< names of the samples in errors; empty: their numbers are used
  Tolerance tolerance = Tolerance::ofLoweredTypes();  ///< beyond it a tensor is wrong; only its rms bound is used
  StopToken stop{};
  Progress progress{};
};

/// Runs `exact`, a plan of exactNetworkOf(), and `lowered` side by side, node by node. Codes are compared by the
/// numbers that they represent; if a node reads codes, its exact inputs are rounded to such numbers. `exact` must write
/// every value to memory that `lowered` does, as plans of exactPlanFor() do; other values are not measured. If `exact`
/// is null, the comparison is with the network in double precision on the reference kernels, which takes long. Each
/// kernel is prepared once for many samples, and activations are freed after their last use, so that neither all
/// weights nor all activations are in memory at once. Errors are those of building and running.
Result<LayerErrorReport> measureLayerErrors(std::shared_ptr<const Plan> exact, std::shared_ptr<const Plan> lowered,
                                            std::span<const std::map<std::string, Tensor>> samples,
                                            const LayerErrorOptions& options);

/// Makes the plan of `options` for exactNetworkOf(`lowered`) in which every value that `lowered` has in memory is in
/// memory too: kernels end where those of `lowered` end.
Result<std::shared_ptr<const Plan>> exactPlanFor(const Plan& lowered, PlanOptions options, const StopToken& stop);

/// Returns those of `tensors`, by name, from which an output of `graph` can be reached through tensors that are wrong
/// by `tolerance` or were not measured. A pure function.
std::set<std::string> leadingToOutputs(const std::vector<TensorErrors>& tensors, const Graph& graph,
                                       const Tolerance& tolerance);

/// Returns the first of `tensors` whose local error exceeds `tolerance`, or else the first whose carried error does.
/// Tensors in `leading`, the result of leadingToOutputs(), take precedence over others, such as a mask whose lowest
/// number becomes infinite. A pure function.
std::optional<FirstWrong> firstWrongOf(const std::vector<TensorErrors>& tensors, const std::set<std::string>& leading,
                                       const Tolerance& tolerance);

}  // namespace fusescope
