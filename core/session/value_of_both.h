#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "session/samples.h"
#include "session/session.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// What both runs give of one value may take so many bytes together, at the most.
inline constexpr std::size_t kMostValueBytes = std::size_t{512} << 20;

/// One value of a network on one sample, as the network in float32 makes it and as a plan makes it.
struct ValueOfBoth {
  std::string value;                      ///< its name
  std::string sample;                     ///< the name of the sample
  std::string fusedNode;                  ///< of the plan, which leaves the value in memory; empty: none does
  DataType stored = DataType::Undefined;  ///< the type that the plan stores it at
  bool codes = false;                     ///< the plan stores codes; `planned` has the numbers that they stand for
  std::optional<Tensor> exact, planned;
  std::string whyNoExact, whyNoPlanned;  ///< for people, where there is none
  std::int64_t samples = 0;              ///< that there are; 0: readValueOfBoth() was not told
  bool randomInputs = false;             ///< nobody gave inputs
};

/// A value by the name that a user gave.
struct NamedValue {
  const Graph* graph = nullptr;  ///< of the network or of a body
  ValueId id;
  bool isInBody = false;
  bool isMade() const { return graph->has(graph->value(id).producer); }
  const Tensor* constant() const { return graph->value(id).constant.get(); }  ///< null: it is none
};
/// The value of the plan's graph that is called so, or "HOLDER/NAME" in a body. Errors: there is none, the nearest are
/// named; it is a node's name, its values are named. It refers to `plan`.
Result<NamedValue> valueNamed(const Plan& plan, const std::string& name);

/// Runs the plan of `artifact`, and the same network in float32 beside it, on `sample` until both have made `value`, a
/// value of the plan's graph that a node makes. The float32 plan is split so that it leaves the value in memory; what a
/// kernel of the plan holds inside is in no memory there, which `whyNoPlanned` says. What another compiler than ours
/// made runs as a whole, and hands out what it can. Errors: there is no such value or no node makes it, both take more
/// than `mostBytes`, and those of building and running. `options`: backend, threads, stop, progress.
Result<ValueOfBoth> valueOfBoth(const Artifact& artifact, const std::string& value, const Sample& sample,
                                const LayerErrorOptions& options, std::size_t mostBytes = kMostValueBytes);

/// The sample of this number, from 0 on. Errors: there are fewer.
Result<const Sample*> sampleNumber(const Samples& samples, std::int64_t number);

/// Writes `exact` and `planned`, whichever there are, as arrays of these names into a .npz file at `path`, and gives
/// {value, sample, fused_node, stored, codes, file, why_no_exact, why_no_planned}. Types that such files have not are
/// written as float32 or int8.
Result<Json> writeValueOfBoth(const ValueOfBoth& value, const std::filesystem::path& path);
/// The inverse: `reply` is what that gave, and what addSamples() put beside it. The tensors are read whole. Errors:
/// those of the file; a field is missing.
Result<ValueOfBoth> readValueOfBoth(const Json& reply);

}  // namespace fusescope
