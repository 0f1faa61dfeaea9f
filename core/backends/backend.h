#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/fingerprint.h"
#include "backends/tactic.h"
#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

/// A tensor as a kernel meets it: concrete extents (ONNX order), type as stored, memory format.
struct TensorDesc {
  DataType dtype = DataType::Undefined;
  Dims dims;
  MemoryFormat format;
  std::size_t bytes() const;  ///< including the padding of blocked formats
  bool operator==(const TensorDesc&) const = default;
};

/// A fused node with everything a kernel is specialised by.
struct KernelRequest {
  const Plan* plan = nullptr;
  const FusedNode* fused = nullptr;
  std::map<ValueId, TensorDesc> values;  ///< inputs, outputs and inner values of the fused node
  std::map<ValueId, Tensor> constants;   ///< with data, at the model's own type
  std::vector<MemoryFormat> formats;     ///< in which inputs can be delivered besides plain
  int threads = 1;
};

/// Runs a fused node. All memory is given: run() allocates nothing. One kernel is run by one caller at a time.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratchBytes() const { return 0; }
  /// `inputs` as FusedNode::inputs, `outputs` as FusedNode::outputs, in the formats of the tactic; `scratch` is
  /// 64-byte aligned. The only run-time errors are of values (an index out of range).
  virtual Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::byte* scratch) = 0;
  /// Bytes of weights this kernel holds in its own format.
  virtual std::size_t weightBytes() const { return 0; }
};

/// Builds kernels for fused nodes. Stateless and safe to use from several threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All that times and kernels of this backend depend on here: the host's, and the versions of the libraries behind it.
  virtual Fingerprint fingerprint() const = 0;
  /// Every way this backend knows to run it, best guess first; never empty for a node it was given by a plan: the
  /// reference way is always there. What can take its inputs in several formats is there once for each.
  virtual std::vector<Tactic> tactics(const KernelRequest& request) const = 0;
  /// Prepares one: repacks weights, creates primitives. What tactics() offers here can be prepared. An unknown tactic is
  /// an error that names the nearest.
  virtual Result<std::unique_ptr<Kernel>> prepare(const KernelRequest& request, const Tactic& tactic) const = 0;
  /// Converts a tensor between formats and types (a step of its own in an engine).
  virtual Result<std::unique_ptr<Kernel>> prepareConversion(const TensorDesc& from, const TensorDesc& to,
                                                            int threads) const = 0;
  /// Whether that conversion imitates a type in software, as Tactic::emulated.
  virtual bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const = 0;
};

/// The backends of this build, in an explicit list: reference, native. Null for an unknown name.
const Backend* findBackend(std::string_view name);

}  // namespace fusescope
