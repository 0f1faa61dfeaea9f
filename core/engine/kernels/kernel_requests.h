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

struct Node;

/// The types of the values that the nodes of a fused node produce, as kernels see them. It refers to the plan, which
/// must outlive it.
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

/// A value whose bytes are those of another value: all of them with other extents, or a contiguous part.
struct ByteView {
  ValueId source;
  std::int64_t begin = 0;  ///< in elements
  bool isPart = false;
};
/// If a fused node only changes the extents of its input, or takes contiguous elements of it, returns how its only
/// output is placed in the input. `dimsOf` returns the extents of a value.
std::optional<ByteView> viewOf(const Plan& plan, const FusedNode& fused,
                               const std::function<std::optional<SmallDims>(ValueId)>& dimsOf);
/// Returns the type in which `fused` reads `input`, after the plan's casts.
DataType wantedType(const Plan& plan, const FusedNode& fused, ValueId input);

/// The requests for kernels of the fused nodes of a plan at concrete extents, with every input in the plain format.
class KernelRequests {
 public:
  /// `extents` contains those of every input of the network. Errors: extents that do not fit the network.
  static Result<KernelRequests> create(const Plan& plan, const std::map<std::string, Dims>& extents, int threads);

  /// Returns the same requests with `extents` for `values`, which were inferred while a fused node ran (FusedExtents).
  KernelRequests at(std::span<const ValueId> values, std::span<const Dims> extents) const;

  /// Returns the request for one fused node. Errors: an extent that depends on data, a constant without data.
  Result<KernelRequest> of(const FusedNode& fused) const;
  /// Returns the extents of a value. Error: they depend on data.
  Result<Dims> dimsOf(ValueId value) const;
  DataType wantedType(const FusedNode& fused, ValueId input) const {
    return fusescope::wantedType(*m_plan, fused, input);
  }
  /// Returns viewOf() at these extents.
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
