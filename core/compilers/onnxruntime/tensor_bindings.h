#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/handed_network.h"
#include "compilers/probed/slices.h"

namespace fusescope::onnxruntime {

inline constexpr std::uint32_t kNone = TensorGraph::kNone;

/// Element type and extents of a tensor of a file, as far as they are known.
struct KnownType {
  DataType type = DataType::Undefined;
  std::optional<std::vector<std::int64_t>> extents{};  ///< -1 for one that is not known
};

/// A network as it was handed over, with all that binding asks of it.
struct Network {
  explicit Network(const HandedNetwork& handed);

  const HandedNetwork& handed;
  TensorGraph graph;
  std::vector<std::uint32_t> equal;  ///< equalTensors(graph)
  std::vector<KnownType> types;      ///< by tensor
};

/// How a tensor lies in memory, where it is not as ONNX says.
enum class Layout { Plain, Blocked, ChannelsLast };
std::string_view name(Layout layout);  ///< "", "NCHWc", "NHWC"

/// What numbers say of a binding.
enum class Proof { Unknown, Equal, Different };

/// What a tensor of the optimised network is.
struct TensorBinding {
  std::uint32_t tensor = kNone;  ///< of the network that was handed over; kNone: none that is known
  Layout layout = Layout::Plain;
  Proof proof = Proof::Unknown;
  bool isNamed = false;  ///< it has the name of the tensor; else rules about the names of kernels say so
};

/// The network that ONNX Runtime wrote once it had optimised it.
struct Optimised {
  explicit Optimised(const onnxlib::FileGraph& file);

  TensorGraph graph;
  std::vector<KnownType> types;         ///< by tensor
  std::vector<TensorBinding> bindings;  ///< by tensor; bindTensors()
};

/// The node that the name of a kernel is made of ("n14/MatMulAddFusion", "fused n3", "n7_token_2"), else kNone.
std::uint32_t nodeNamedBy(const TensorGraph& network, std::string_view kernel);
/// The tensor that the name of a convolution or pooling of blocks of channels is made of ("v12_nchwc"), else kNone.
std::uint32_t tensorNamedBy(const TensorGraph& network, std::string_view kernel);

/// Fills `optimised.bindings`. Tensors keep their names while nodes are fused, so that most are bound by name; what
/// ONNX Runtime adds for layouts, codes and types is bound by the names of its kernels. A binding whose extents or
/// types do not agree is none.
void bindTensors(const Network& network, Optimised& optimised);

/// Fills in the types of tensors that `optimised` declares none of, as ONNX Runtime writes them: what the operators
/// make of what is known, where that is certain.
void inferTypes(Optimised& optimised, const onnxlib::Opsets& opsets);

}  // namespace fusescope::onnxruntime
