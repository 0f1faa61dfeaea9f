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

/// A tensor as a kernel reads or writes it: concrete extents (in the order of ONNX), type in memory, memory format.
struct TensorDesc {
  DataType dtype = DataType::Undefined;
  Dims dims;
  MemoryFormat format;
  std::size_t bytes() const;  ///< including the padding of blocked formats
  bool operator==(const TensorDesc&) const = default;
};

/// A fused node with everything that a kernel is specialised for.
struct KernelRequest {
  const Plan* plan = nullptr;
  const FusedNode* fused = nullptr;
  std::map<ValueId, TensorDesc> values;  ///< inputs, outputs and inner values of the fused node
  std::map<ValueId, Tensor> constants;   ///< with data, in the type that the model declares
  std::vector<ValueId> weightSlots;      ///< the constants in the order in which the nodes read them
  std::vector<MemoryFormat> formats;     ///< formats in which inputs can be delivered, besides plain
  int threads = 1;

  void addConstant(ValueId value, const Tensor& tensor) {
    if (constants.emplace(value, tensor).second) weightSlots.push_back(value);
  }
};

/// Returns the values that the nodes of a fused node make and that are used only inside it, in the order of the nodes.
/// Equal regions have them in the same order.
std::vector<ValueId> innerValues(const KernelRequest& request);
RegionExtents extentsOf(const KernelRequest& request);

/// Builds kernels for fused nodes. Stateless and safe to use from several threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Returns everything that times and kernels of this backend depend on on this machine: the fingerprint of the host,
  /// and the versions of the libraries that the backend uses.
  virtual Fingerprint fingerprint() const = 0;
  /// Returns the device on which its code runs, and whose memory the code reads and writes.
  virtual const Device& device() const { return cpuDevice(); }
  /// Returns every tactic with which this backend can run the request, the best guess first. The list is never empty
  /// for a node that a plan assigned to this backend, because it always contains the reference tactic. A tactic that
  /// accepts several input formats is listed once for each.
  virtual std::vector<Tactic> tactics(const KernelRequest& request) const = 0;
  /// Compiles one of the tactics that tactics() returns; weights are packed separately (Code::packings()). An unknown
  /// tactic is an error that names the nearest one.
  virtual Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const = 0;
  /// Compiles a conversion of a tensor between formats and types, which is a separate step in an engine. The base class
  /// returns the conversion of the reference backend, which runs on the host.
  virtual Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                                int threads) const;
  /// Returns whether that conversion emulates a type in software, see Numerics::emulated.
  virtual bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const;
  /// Restores the code from the bytes that Code::serialise() returned, if everything in the key is unchanged. Errors:
  /// the bytes are not code of this version.
  virtual Result<std::unique_ptr<const Code>> restore(std::string_view bytes) const;
};

/// Returns the backends of this build, which backends.inc lists.
std::span<const Backend* const> allBackends();
/// Returns null for an unknown name.
const Backend* findBackend(std::string_view name);

}  // namespace fusescope
