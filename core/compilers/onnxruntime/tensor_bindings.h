#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "compilers/probed/slices.h"

namespace fusescope::onnxruntime {

inline constexpr std::uint32_t kNone = TensorGraph::kNone;

/// The element type and extents of a tensor in a file, as far as they are known.
struct KnownType {
  DataType type = DataType::Undefined;
  std::optional<std::vector<std::int64_t>> extents{};  ///< -1 for an unknown extent
};

/// The original network in the form that binding needs.
struct Network {
  explicit Network(const CompilerInput& handed);

  const CompilerInput& handed;
  TensorGraph graph;
  std::vector<std::uint32_t> equal;  ///< equalTensors(graph)
  std::vector<KnownType> types;      ///< by tensor
};

/// The memory layout of a tensor, if it differs from the layout of ONNX.
enum class Layout { Plain, Blocked, ChannelsLast };
std::string_view name(Layout layout);  ///< "", "NCHWc", "NHWC"

/// What a comparison of numbers says about a binding.
enum class Proof { Unknown, Equal, Different };

/// Says which tensor of the original network a tensor of the optimised network is.
struct TensorBinding {
  std::uint32_t tensor = kNone;  ///< a tensor of the original network; kNone: unknown
  Layout layout = Layout::Plain;
  Proof proof = Proof::Unknown;
  bool isNamed = false;  ///< true: bound because the names are equal; false: bound by rules about the names of kernels
};

/// The network that ONNX Runtime wrote after its optimisation.
struct Optimised {
  explicit Optimised(const onnxlib::FileGraph& file);

  TensorGraph graph;
  std::vector<KnownType> types;         ///< by tensor
  std::vector<TensorBinding> bindings;  ///< by tensor; bindTensors()
};

/// Returns the node from which the name of a kernel is derived ("n14/MatMulAddFusion", "fused n3", "n7_token_2"), or
/// kNone.
std::uint32_t nodeNamedBy(const TensorGraph& network, std::string_view kernel);
/// Returns the tensor from which the name of a convolution or pooling with blocked channels is derived ("v12_nchwc"),
/// or kNone.
std::uint32_t tensorNamedBy(const TensorGraph& network, std::string_view kernel);

/// Computes `optimised.bindings`. Tensors keep their names while nodes are fused, so that most are bound by name;
/// tensors that ONNX Runtime adds for layouts, codes and types are bound by the names of their kernels. A binding with
/// contradicting extents or types is dropped.
void bindTensors(const Network& network, Optimised& optimised);

/// Computes the missing types of tensors in `optimised`, which ONNX Runtime does not write, where they follow with
/// certainty from operators and known types.
void inferTypes(Optimised& optimised, const onnxlib::Opsets& opsets);

}  // namespace fusescope::onnxruntime
