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
#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

/// How the elements of a rank-4 (or 3, 5) activation lie in memory. Backends other than native know only Plain.
/// Plain: row-major in ONNX order. ChannelsLast: N,spatial…,C. Blocked8/16: channels in blocks, padded with zeros.
enum class Layout { Plain, ChannelsLast, Blocked8, Blocked16 };
std::string_view name(Layout layout);  ///< "plain", "channels_last", "blocked8", "blocked16"

/// A tensor as a kernel meets it: concrete extents (ONNX order), type as stored, layout.
struct TensorDesc {
  DataType dtype = DataType::Undefined;
  Dims dims;
  Layout layout = Layout::Plain;
  std::size_t bytes() const;  ///< including the padding of blocked layouts
  bool operator==(const TensorDesc&) const = default;
};

/// A fused node with everything a kernel is specialised by.
struct KernelRequest {
  const Plan* plan = nullptr;
  const FusedNode* fused = nullptr;
  std::map<ValueId, TensorDesc> values;  ///< inputs, outputs and inner values of the fused node
  std::map<ValueId, Tensor> constants;   ///< with data, at the model's own type
  std::vector<ValueId> slots;            ///< the constants in the order in which the nodes read them
  int threads = 1;

  void addConstant(ValueId value, const Tensor& tensor) {
    if (constants.emplace(value, tensor).second) slots.push_back(value);
  }
};

/// One way to run a fused node: an implementation, with the layouts it wants.
struct Tactic {
  std::string name;                   ///< stable identity: "onednn:jit:avx2:nhwc", "native:softmax", "reference"
  std::vector<Layout> inputLayouts;   ///< as FusedNode::inputs
  std::vector<Layout> outputLayouts;  ///< as FusedNode::outputs
  bool emulated = false;              ///< imitates a type in software: results are right, time means nothing
  bool operator==(const Tactic&) const = default;
};

/// Builds kernels for fused nodes. Stateless and safe to use from several threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// The versions of this backend and of the libraries behind it: measured times hold for these alone.
  virtual std::string version() const { return "1"; }
  /// Every way this backend knows to run it, best guess first; never empty for a node it was given by a plan: the
  /// reference way is always there. `request.values` layouts of inputs are what the producers deliver.
  virtual std::vector<Tactic> tactics(const KernelRequest& request) const = 0;
  /// Compiles one; weights are packed apart (Code::packings()). An unknown tactic is an error that names the nearest.
  virtual Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const = 0;
  /// Converts a tensor between layouts and types (a step of its own in an engine).
  virtual Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                                int threads) const = 0;
  /// Whether that conversion imitates a type in software, as Tactic::emulated.
  virtual bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const = 0;
};

/// The backends of this build, in an explicit list: reference, native. Null for an unknown name.
const Backend* findBackend(std::string_view name);

}  // namespace fusescope
