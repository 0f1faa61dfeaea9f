#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ir/graph.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/inputs/samples.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// The largest number of bytes that the results of both runs for one value may need together.
inline constexpr std::size_t kMostValueBytes = std::size_t{512} << 20;

/// One value of a network on one sample, as the network in float32 calculates it and as a plan calculates it.
struct ValueOfBoth {
  std::string value;                      ///< its name
  std::string sample;                     ///< the name of the sample
  std::string fusedNode;                  ///< the fused node of the plan that writes the value to memory; empty: none
                                          ///< does
  DataType stored = DataType::Undefined;  ///< the type in which the plan stores it
  bool codes = false;                     ///< the plan stores codes; `planned` contains the numbers that they represent
  std::optional<Tensor> exact, planned;
  std::string whyNoExact, whyNoPlanned;  ///< why one of them is missing, for people
  std::int64_t samples = 0;              ///< the number of samples; 0: readValueOfBoth() did not find it
  bool randomInputs = false;             ///< nobody gave inputs
};

/// A value that a user named.
struct NamedValue {
  const Graph* graph = nullptr;  ///< the graph of the network or of a body
  ValueId id;
  bool isInBody = false;
  bool isMade() const { return graph->has(graph->value(id).producer); }
  const Tensor* constant() const { return graph->value(id).constant.get(); }  ///< null if it is not a constant
};
/// Returns the value of the plan's graph with this name, or "HOLDER/NAME" for a body. Errors: there is none (the
/// nearest are suggested); it is the name of a node (its values are suggested). The result refers to `plan`.
Result<NamedValue> valueNamed(const Plan& plan, const std::string& name);

/// Runs the plan of `artifact`, and the same network in float32, on `sample` until both have made `value`, a result of
/// a node in the plan's graph. The float32 plan is split so that it stores the value in memory; if the plan keeps the
/// value inside a kernel, `whyNoPlanned` says so. What another compiler made runs as a whole, and returns what it can.
/// Errors: the value does not exist or no node makes it, both need more than `mostBytes`, and those of building and
/// running. `options` are backend, threads, stop, progress.
Result<ValueOfBoth> valueOfBoth(const Artifact& artifact, const std::string& value, const Sample& sample,
                                const LayerErrorOptions& options, std::size_t mostBytes = kMostValueBytes);

/// Returns the sample with this number, counted from 0. Errors: there are fewer.
Result<const Sample*> sampleNumber(const Samples& samples, std::int64_t number);

/// Writes `exact` and `planned`, if they exist, as arrays with these names into a .npz file at `path`. Returns {value,
/// sample, fused_node, stored, codes, file, why_no_exact, why_no_planned}. Types that such files do not support are
/// written as float32 or int8.
Result<Json> writeValueOfBoth(const ValueOfBoth& value, const std::filesystem::path& path);
/// Reads what writeValueOfBoth() wrote. `reply` is its result with the members of addSamples(). The tensors are read
/// completely. Errors: those of the file; a field is missing.
Result<ValueOfBoth> readValueOfBoth(const Json& reply);

}  // namespace fusescope
