#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "base/small_vector.h"

namespace fusescope {

/// Types of what the nodes of a fused node produce, as kernels see them. Refers to the plan, which must outlive it.
class InnerTypes {
 public:
  InnerTypes(const Plan& plan, const FusedNode& fused);
  /// Returns the type of `value` inside the fused node: the type of the output if `value` is an output, otherwise the
  /// type of the inner edge, otherwise its stored type in the plan.
  DataType of(ValueId value) const;

 private:
  const Plan* m_plan;
  std::vector<std::pair<ValueId, DataType>> m_types;  ///< by value, each once
};

/// Bytes that lie in those of another value: all of them under other extents, or a part of them.
struct ByteView {
  ValueId source;
  std::int64_t begin = 0;  ///< in elements
  bool isPart = false;
};
/// If all that a fused node does is to give its input other extents, or to take elements of it that lie together: what
/// its only output is. `dimsOf`: extents of the values.
std::optional<ByteView> viewOf(const Plan& plan, const FusedNode& fused,
                               const std::function<std::optional<SmallDims>(ValueId)>& dimsOf);
/// The type in which `fused` reads `input`, after the plan's casts.
DataType wantedType(const Plan& plan, const FusedNode& fused, ValueId input);

/// What kernels are asked for: the fused nodes of a plan at concrete extents, with every input in the plain format.
class KernelRequests {
 public:
  /// `extents` of every input of the network. Errors: extents that do not fit the network.
  static Result<KernelRequests> create(const Plan& plan, const std::map<std::string, Dims>& extents, int threads);

  /// The same where `values` have `extents`, which the inputs of a fused node said while it ran: FusedExtents.
  KernelRequests at(std::span<const ValueId> values, std::span<const Dims> extents) const;

  /// Errors: an extent that depends on data, a constant without data.
  Result<KernelRequest> of(const FusedNode& fused) const;
  /// The extents of a value. Error: they depend on data.
  Result<Dims> dimsOf(ValueId value) const;
  DataType wantedType(const FusedNode& fused, ValueId input) const {
    return fusescope::wantedType(*m_plan, fused, input);
  }
  /// See viewOf().
  std::optional<ByteView> view(const FusedNode& fused) const;
  /// Adds the constants that `request.fused` reads. Error: one has no data.
  Status addConstants(KernelRequest& request) const;
  const std::vector<TensorType>& types() const { return m_types; }  ///< by ValueId
  int threads() const { return m_threads; }

 private:
  KernelRequests(const Plan& plan, std::vector<TensorType> types, int threads);
  void addInnerValues(const InnerTypes& types, const Node& node, KernelRequest& request) const;

  const Plan* m_plan;
  std::vector<TensorType> m_types;
  int m_threads;
};

}  // namespace fusescope
