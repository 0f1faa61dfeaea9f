#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/code.h"
#include "backends/cpu_device.h"
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
  std::vector<ValueId> weightSlots;      ///< the constants in the order in which the nodes read them
  std::vector<MemoryFormat> formats;     ///< in which inputs can be delivered besides plain
  int threads = 1;

  void addConstant(ValueId value, const Tensor& tensor) {
    if (constants.emplace(value, tensor).second) weightSlots.push_back(value);
  }
};

/// What the nodes of a fused node make and nobody else reads, in their order: equal regions have equal ones.
std::vector<ValueId> innerValues(const KernelRequest& request);
RegionExtents extentsOf(const KernelRequest& request);

/// Builds kernels for fused nodes. Stateless and safe to use from several threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All that times and kernels of this backend depend on here: the host's, and the versions of the libraries behind
  /// it.
  virtual Fingerprint fingerprint() const = 0;
  /// Where its code runs, and where what that reads and writes lies.
  virtual const Device& device() const { return cpuDevice(); }
  /// Every way this backend knows to run it, best guess first; never empty for a node it was given by a plan: the
  /// reference way is always there. What can take its inputs in several formats is there once for each.
  virtual std::vector<Tactic> tactics(const KernelRequest& request) const = 0;
  /// Compiles one; weights are packed apart (Code::packings()). What tactics() offers here can be compiled. An unknown
  /// tactic is an error that names the nearest.
  virtual Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const = 0;
  /// Converts a tensor between formats and types (a step of its own in an engine). Here: as the reference does, on the
  /// host.
  virtual Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                                int threads) const;
  /// Whether that conversion imitates a type in software, as Numerics::emulated.
  virtual bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const;
  /// The code that gave these bytes (Code::serialise()), where everything that its key names is as it was. Errors:
  /// they are of no code of this version.
  virtual Result<std::unique_ptr<const Code>> restore(std::string_view bytes) const;
};

/// The backends of this build: backends.inc.
std::span<const Backend* const> allBackends();
/// Null for an unknown name.
const Backend* findBackend(std::string_view name);

}  // namespace fusescope
