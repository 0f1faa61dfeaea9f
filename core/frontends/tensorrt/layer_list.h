#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

// The list of an engine's layers as TensorRT prints it in words: "Layers:", then a line for each layer. Names stand in
// it as they are, so that one with line ends, commas or brackets may look like anything: whoever numbers the nodes of
// a network before it is compiled knows what a list means. Nothing here knows of a network.

/// A tensor that a layer reads or writes.
struct ListedTensor {
  std::string name;
  std::string type;  ///< "Float", as it is printed
  std::vector<std::int64_t> dims, strides, strideOrder;
  std::string format;         ///< "(Linear) Row major linear format", as it is printed
  std::string location = {};  ///< "Device", "Host"; empty: it is not said
};

struct ListedLayer {
  std::string name;
  std::string type;    ///< LayerType: "gemm", "kgen", …
  std::string tactic;  ///< the name of the tactic; empty: it says none
  std::optional<std::int64_t> stream{};
  std::vector<ListedTensor> inputs{}, constants{}, outputs{};
  std::string metadata{};   ///< as it is printed: namesInMetadata() reads it
  std::string parameter{};  ///< ParameterType: "Convolution"; empty: it says none
  std::string origin{};     ///< of a Reformat: "REFORMAT", or "QDQ" where a quantiser of the network is one
  std::string weights{};    ///< the type of its weights, as it is printed; empty: it has none, or does not say
};

/// The layers of a list, in the order in which they stand there: that in which they run. What follows them, as the list
/// of inputs and outputs, is not read. Errors say in which line of the list, and at which words.
Result<std::vector<ListedLayer>> parseLayerList(std::string_view text);

/// What stands in each "[ONNX Layer: …]": "n12", or "n3 | true_graph_0 (then_branch) | n2 (If)" of a node in a body.
std::vector<std::string> namesInMetadata(std::string_view metadata);

/// The nodes of the network that a layer says it is of, without knowing the network: those in its metadata, else the
/// parts of its name, "A" and "B" of "A + B", "A || B" or "PWN(A, B)". Parts that TensorRT made up are left out.
std::vector<std::string> nodesSaidBy(const ListedLayer& layer);

/// The type that TensorRT prints as "Float", "Half", …, or within a format, as "Row major linear FP16 format";
/// Undefined: one that is not known.
DataType listedType(std::string_view type);

/// What a format says besides the type: "Row major linear" of "Row major linear FP16 format", "Channel major, channel %
/// 8 == 0" of "Channel major FP16 format where channel % 8 == 0". Empty: nothing, as "Float".
std::string layoutIn(std::string_view format);

}  // namespace fusescope
